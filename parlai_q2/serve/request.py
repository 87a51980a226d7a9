"""
Reads a chat request: its knowledge, the turns before the reply, and whether its reply
can be scored. Knowledge comes from the first of these that has any:

1. the fields ``knowledge`` and ``documents``;
2. the index of documents, if the proxy has one (:mod:`~parlai_q2.serve.grounded`);
3. messages with role ``tool`` or ``function``, and what stands between the markers;
4. without markers, system and developer messages as they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from parlai_q2.errors import InputError
from parlai_q2.json_values import JsonMapping, JsonObject
from parlai_q2.options import Word
from parlai_q2.text.messages import visible_text
from parlai_q2.turns import Passage, joined, passages_of, stripped
from parlai_q2.web import refuse

# The roles of messages.
SYSTEM, TOOLS = ('system', 'developer'), ('tool', 'function')
TURNS = ('user', 'assistant')
MAX_CHOICES = 128


class KnowledgeOrigin(Word):
    """Where the knowledge of a request is from."""

    FIELD = 'field'
    INDEX = 'index'
    MESSAGES = 'messages'
    SYSTEM = 'system'
    NONE = 'none'


class Unscored(Word):
    """Why a reply is passed on without a score."""

    NO_KNOWLEDGE = 'no knowledge'
    SMALL_TALK = 'small talk'  # after small talk, and claims nothing either
    FORMAT = 'response_format'
    MEDIA = 'content that is not text'
    TOOL_CALLS = 'tool calls'
    REFUSAL = 'refusal'
    EMPTY = 'no text'


@dataclass(frozen=True)
class ChatRequest:
    """
    A request as it is answered.

    :param fields: to send upstream.
    :param passages: the knowledge; empty if there is none.
    :param source: where it is from.
    :param history: the turns before the reply, oldest first.
    :param choices: how many replies the client wants.
    :param is_streamed: whether they are sent in pieces.
    :param has_usage: whether these end with the usage.
    :param unscored: why the reply is not scored; None if it is.
    :param is_declined: whether documents have no answer.
    :param courtesy: a reply to the last turn if that is small talk, which asks nothing
        of documents; else empty.
    """

    fields: JsonObject
    passages: tuple[Passage, ...]
    source: KnowledgeOrigin
    history: tuple[str, ...]
    choices: int = 1
    is_streamed: bool = False
    has_usage: bool = False
    unscored: Unscored | None = None
    is_declined: bool = False
    courtesy: str = ''

    def with_knowledge(
        self, passages: Sequence[Passage], source: KnowledgeOrigin, prompt: str
    ) -> 'ChatRequest':
        """The request with knowledge that the model is told of by a system message."""
        return replace(
            self,
            passages=tuple(passages),
            source=source,
            fields=_tell(self.fields, passages, prompt),
        )


def read_request(
    body: JsonObject, markers: tuple[str, str] | None, prompt: str
) -> ChatRequest:
    """
    Read the body of a request.

    :param markers: what begins and what ends knowledge inside a message, if anything.
    :param prompt: tells the model of the field ``knowledge``.
    :raises InputError: if it is no request of the protocol.
    """
    messages = body.get('messages')
    if not isinstance(messages, list) or not messages:
        raise InputError('"messages" must be a list of at least one message.')
    if not all(isinstance(message, dict) for message in messages):
        raise InputError('Each of "messages" must be an object with "role".')
    if any(m.get('role') == 'user' and m.get('content') is None for m in messages):
        raise InputError('Messages with the role "user" must have "content".')
    choices = 1 if body.get('n') is None else body['n']
    if type(choices) is not int or not 1 <= choices <= MAX_CHOICES:
        raise InputError(f'"n" must be a whole number from 1 to {MAX_CHOICES}.')
    options = body.get('stream_options')
    dropped = ('knowledge', 'stream', 'stream_options', 'n')
    passages = _passages(body.get('knowledge'), 'knowledge')
    documents = _passages(body.get('documents'), 'documents')
    in_messages, history = _read_messages(messages, markers)
    request = ChatRequest(
        {name: value for name, value in body.items() if name not in dropped},
        *_choose_source(passages + documents, in_messages, messages, markers),
        history=history,
        choices=choices,
        is_streamed=bool(body.get('stream')),
        has_usage=isinstance(options, dict) and bool(options.get('include_usage')),
        unscored=_find_unscored(body),
    )
    if passages:
        # Servers write ``documents`` into the prompt themselves.
        return replace(request, fields=_tell(request.fields, passages, prompt))
    return request


def _choose_source(
    in_fields: tuple[Passage, ...],
    in_messages: tuple[Passage, ...],
    messages: Sequence[JsonMapping],
    markers: tuple[str, str] | None,
) -> tuple[tuple[Passage, ...], KnowledgeOrigin]:
    if in_fields:
        return in_fields, KnowledgeOrigin.FIELD
    if in_messages:
        return in_messages, KnowledgeOrigin.MESSAGES
    if markers is None:
        texts = (visible_text(m) for m in messages if m.get('role') in SYSTEM)
        if system_passages := stripped(tuple(Passage(text) for text in texts if text)):
            return system_passages, KnowledgeOrigin.SYSTEM
    return (), KnowledgeOrigin.NONE


def _read_messages(
    messages: Sequence[JsonMapping], markers: tuple[str, str] | None
) -> tuple[tuple[Passage, ...], tuple[str, ...]]:
    """The knowledge in messages, and the turns without it."""
    passages, history = list[str](), list[str]()
    for message in messages:
        text, role = visible_text(message), message.get('role')
        if role in TOOLS:
            passages.append(text)
            continue
        if markers is not None and role != 'assistant':
            marked, text = _split_marked(text, *markers)
            passages += marked
        if role in TURNS and text.strip():
            history.append(text)
    return stripped(passages_of([p for p in passages if p])), tuple(history)


def _split_marked(text: str, begin: str, end: str) -> tuple[list[str], str]:
    """
    What stands between markers, and the text without it.

    >>> _split_marked('Use <k>Bees.</k> How many?', '<k>', '</k>')
    (['Bees.'], 'Use  How many?')
    """
    marked, rest, place = list[str](), list[str](), 0
    while (start := text.find(begin, place)) >= 0:
        rest.append(text[place:start])
        start += len(begin)
        stop = text.find(end, start)
        if stop < 0:
            stop = len(text)
        marked.append(text[start:stop].strip())
        place = stop + len(end)
    return marked, ''.join([*rest, text[place:]]).strip()


def _passages(value: object, name: str) -> tuple[Passage, ...]:
    """The passages of a field of the body, whose objects may be of other servers."""
    if value is None:
        return ()
    values = value if isinstance(value, list) else [value]
    try:
        return stripped(passages_of([_as_passage(item) for item in values]))
    except InputError:
        raise InputError(
            f'"{name}" must be a text, or a list of texts or of objects with "text".'
        ) from None


def _as_passage(value: object) -> Any:
    if not isinstance(value, dict):
        return value
    data = value.get('data')
    fields = data if isinstance(data, dict) else value
    names = ('text', 'content', 'snippet', 'contents')
    text = next((fields[n] for n in names if isinstance(fields.get(n), str)), data)
    title = fields.get('title')
    return {'text': text, 'title': title if isinstance(title, str) else ''}


def check_knowledge(passages: Sequence[Passage], most: int) -> None:
    """Refuse knowledge that is too long to be read while a client waits."""
    length = sum(len(p.title) + len(p.text) for p in passages)
    if length > most:
        refuse(
            413,
            f'The knowledge has {length:,} characters, and at most {most:,} are read '
            '(--max-knowledge). Send only what the question needs, or let the proxy '
            'find it in an index (--knowledge-index).',
        )


def _find_unscored(body: JsonObject) -> Unscored | None:
    format = body.get('response_format')
    if isinstance(format, dict) and format.get('type', 'text') != 'text':
        return Unscored.FORMAT
    has_media = any(map(_has_media, body['messages']))
    is_other = has_media or body.get('modalities') not in (None, [], ['text'])
    return Unscored.MEDIA if is_other else None


def _has_media(message: JsonMapping) -> bool:
    content = message.get('content')
    parts = content if isinstance(content, list) else []
    kinds = ('text', 'input_text', 'output_text', 'refusal', 'thinking')
    return any(
        isinstance(p, dict) and p.get('type', 'text') not in kinds for p in parts
    )


def find_unscored(choice: JsonObject) -> Unscored | None:
    """Why a reply is not scored; None if it is a text."""
    message = choice['message']
    if message.get('tool_calls') or message.get('function_call'):
        return Unscored.TOOL_CALLS
    if message.get('refusal'):
        return Unscored.REFUSAL
    if message.get('audio'):
        return Unscored.MEDIA
    return None if visible_text(message).strip() else Unscored.EMPTY


def _tell(fields: JsonObject, passages: Sequence[Passage], prompt: str) -> JsonObject:
    """
    The request with knowledge in the first system message: many models know only one.
    """
    titled = [
        p._replace(text=f'{p.title}: {p.text}') if p.title else p for p in passages
    ]
    text = prompt.replace('{knowledge}', joined(titled))
    first, *rest = fields['messages']
    if first.get('role') in SYSTEM:
        first = {**first, 'content': f'{visible_text(first)}\n\n{text}'.strip()}
        return {**fields, 'messages': [first, *rest]}
    system = {'role': 'system', 'content': text}
    return {**fields, 'messages': [system, first, *rest]}
