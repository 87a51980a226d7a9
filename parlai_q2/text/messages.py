"""
Turns a message of the chat-completions protocol into the text that people see.

Models that think before they reply write their thoughts into the reply, between tags,
or into a content part of its own; people are not shown them, and they claim nothing.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

# What a reply ends with that was cut off at the limit of its tokens.
CUT_OFF = ' …'
LENGTH = 'length'
# The parts of a content that people see, by type, each with its field.
_TEXT_PARTS = {
    'text': 'text',
    'input_text': 'text',
    'output_text': 'text',
    'refusal': 'refusal',
}
_NAMES = 'think|thinking|thought|reasoning'
_OPEN = rf'(?:<(?:{_NAMES})>|\[THINK\])'
_CLOSE = rf'(?:</(?:{_NAMES})>|\[/THINK\])'
# Templates may write the opening tag themselves, so that a reply has only the other.
_THOUGHTS = re.compile(
    rf'\A(?:(?!{_OPEN}).)*?{_CLOSE}(?=\s|\Z)|^[ \t]*{_OPEN}.*?(?:{_CLOSE}|\Z)',
    re.S | re.M | re.I,
)
_HAS_TAG = re.compile(f'{_OPEN}|{_CLOSE}', re.I)
_TAG = re.compile(rf'\s*(?:{_OPEN}|{_CLOSE})\s*', re.I)


class Reply(NamedTuple):
    """
    A message in two parts.

    :param text: what people see; empty if the message only calls a tool.
    :param thoughts: what the model thought before, if it was written down.
    """

    text: str
    thoughts: str = ''


def split_message(message: object) -> Reply:
    """
    What people see of a message, and what they do not.

    :param message: a text, a list of content parts, or an object with ``content``,
        which is either. A text without thoughts stays as it is.

    >>> split_message('<think>Five?</think>\\nBees have five eyes.')
    Reply(text='Bees have five eyes.', thoughts='Five?')
    >>> split_message({'content': [{'type': 'text', 'text': 'Five.'}]}).text
    'Five.'
    """
    if isinstance(message, Mapping):
        content = message.get('content') or message.get('refusal') or ''
        between = '' if message.get('role') in (None, 'assistant') else '\n'
    else:
        content, between = message, ''
    if not isinstance(content, str):
        content = between.join(_visible_parts(content))
    if not _HAS_TAG.search(content):
        return Reply(content)
    thoughts = [_TAG.sub('', match[0]) for match in _THOUGHTS.finditer(content)]
    return Reply(_THOUGHTS.sub('', content).strip(), '\n'.join(filter(None, thoughts)))


def _visible_parts(parts: object) -> Iterator[str]:
    for part in parts if isinstance(parts, Sequence) else ():
        if isinstance(part, str):
            yield part
        elif isinstance(part, Mapping):
            text = part.get(_TEXT_PARTS.get(str(part.get('type') or 'text'), ''))
            if isinstance(text, str):
                yield text


def is_message(value: Any) -> bool:
    """
    Whether a value is no text but a message, messages, or the parts of one.

    >>> is_message({'content': None}), is_message(['Five.'])
    (True, False)
    """
    if isinstance(value, Mapping):
        return 'content' in value
    is_list = isinstance(value, list) and bool(value)
    return is_list and all(
        isinstance(item, Mapping) and ('role' in item or 'type' in item)
        for item in value
    )


def visible_text(message: object, finish_reason: str | None = None) -> str:
    """
    The text of a message that people see; a reply that was cut off ends with an
    ellipsis.

    :param message: as for :func:`split_message`.
    :param finish_reason: why the model stopped, as its server says.

    >>> visible_text({'role': 'assistant', 'content': 'Bees have'}, 'length')
    'Bees have …'
    """
    text = split_message(message).text
    if finish_reason is None:
        return text
    text = text.strip()
    return text + CUT_OFF if text and finish_reason == LENGTH else text


def reply_text(completion: Any) -> str:
    """
    The reply of a completion: a text, a message, its parts, or messages of which the
    last is the reply. It is empty if that is a tool's answer or only calls a tool.

    >>> call = {'role': 'assistant', 'content': None, 'tool_calls': [{'id': '1'}]}
    >>> reply_text([call, {'role': 'tool', 'content': '12 degrees'}])
    ''
    """
    if isinstance(completion, (str, Mapping)):
        last: Any = completion
    elif (
        completion and isinstance(completion[-1], Mapping) and 'type' in completion[-1]
    ):
        last = {'role': 'assistant', 'content': completion}
    else:
        last = completion[-1] if completion else ''
    is_reply = not isinstance(last, Mapping) or last.get('role') in (None, 'assistant')
    return visible_text(last) if is_reply else ''
