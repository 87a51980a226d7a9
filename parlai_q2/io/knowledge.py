"""
Finds the knowledge that the reply to a turn should rest on, in the same way for agents,
clients of servers, teachers, mutators and commands.

Tasks put it in different fields of a message. These are tried in order:
``checked_sentence`` (what the wizard chose) and ``knowledge`` (all that was shown);
both in ``x_turn``, where the ``jsonfile`` teacher of ParlAI keeps a turn's fields; the
selected sentences of Wizard of the Internet, or else the documents that were retrieved;
a passage inside ``text``, between the markers of Wizard of Wikipedia or before a
delimiter.

With an index, what a person typed or what the index finds is the knowledge, and a
message's own is ignored. Without one, the sources are tried in this order:

1. the message itself, as above;
2. a passage before a delimiter in its text;
3. a passage before a delimiter in an earlier turn of the episode;
4. what a person typed with ``/knowledge``;
5. the knowledge file; if it has several passages, agents get those that fit the turn,
   and teachers all of them.

Typed knowledge comes before the file, so that ``/knowledge`` has an effect in a chat
that has a file.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from parlai_q2.errors import ConfigError
from parlai_q2.json_values import JsonMapping
from parlai_q2.options import line_ends
from parlai_q2.turns import Passage, Turn, joined, passages_of

# From parlai/tasks/wizard_of_wikipedia: the placeholder for "no sentence was used", the
# mark between a passage's title and its text (which also opens knowledge inside a
# message's text), and the mark that closes it.
TOKEN_NOCHOSEN = 'no_passages_used'
TOKEN_KNOWLEDGE = '__knowledge__'
TOKEN_END_KNOWLEDGE = '__endknowledge__'
_MARKED = re.compile(f'{TOKEN_KNOWLEDGE}.*?({TOKEN_END_KNOWLEDGE}|$)', re.DOTALL)

FIELDS = ('checked_sentence', 'knowledge')
# From parlai/tasks/wizard_of_internet/constants.py: the names of lists of texts, and
# the placeholder for an empty list.
SELECTED_SENTENCES = '__selected-sentences__'
RETRIEVED_DOCS = '__retrieved-docs__'
RETRIEVED_TITLES = '__retrieved-docs-titles__'
NOTHING_FOUND = ('__no_passages_used__', '__noretrieved-docs__')


def find_knowledge(message: JsonMapping) -> str | None:
    """The knowledge of one turn as one text (:func:`find_passages`), or None."""
    return joined(find_passages(message)) or None


def find_passages(
    message: JsonMapping, delimiter: str | None = None
) -> tuple[Passage, ...]:
    """
    The knowledge of one turn. Lines that WoW gives the same title are one passage; each
    text of a list is one or more; other text is one.

    :param message: a teacher's message.
    :param delimiter: if given, and there is no knowledge elsewhere, everything before
        its last occurrence in ``text`` is the knowledge.
    :return: the passages; empty if there is none.

    >>> passages = find_passages({'knowledge': 'Bee __knowledge__ Bees.'})
    >>> passages[0].title, passages[0].text
    ('Bee', 'Bees.')
    """
    for name in FIELDS:
        passages = passages_in(message.get(name))
        if joined(passages):
            return passages
    x_turn = message.get('x_turn')
    if isinstance(x_turn, Mapping):
        passages = find_passages({**x_turn, 'text': None})
        if passages:
            return passages
    passages = _retrieved(message)
    if passages:
        return passages
    raw = message.get('text')
    # Before the markers on a line, words are those of the turn, and no title.
    is_marked = isinstance(raw, str) and TOKEN_END_KNOWLEDGE in raw
    text, inside = str(raw) if is_marked else as_text(raw), ''
    if TOKEN_KNOWLEDGE in text:
        inside = text.partition(TOKEN_KNOWLEDGE)[2].partition(TOKEN_END_KNOWLEDGE)[0]
    elif delimiter and delimiter in text:
        inside = text.rpartition(delimiter)[0]
    return (Passage(inside.strip()),) if inside.strip() else ()


def _retrieved(message: JsonMapping) -> tuple[Passage, ...]:
    """The selected sentences of the documents that a search found, or all documents."""
    selected = [
        text
        for text in _texts(message.get(SELECTED_SENTENCES))
        if text not in NOTHING_FOUND
    ]
    texts = _texts(message.get(RETRIEVED_DOCS))
    titles = _texts(message.get(RETRIEVED_TITLES))
    documents = (
        Passage(text.strip(), title)
        for text, title in zip_longest(texts, titles, fillvalue='')
    )
    return passages_in(selected) or tuple(
        document
        for document in documents
        if document.text and document.text not in NOTHING_FOUND
    )


def _texts(value: object) -> list[str]:
    values = value if isinstance(value, (list, tuple)) else [value] if value else []
    return [str(text) for text in values]


def as_text(value: object) -> str:
    """A field's value as one text, without markers."""
    return joined(passages_in(value))


def passages_in(value: object) -> tuple[Passage, ...]:
    """The passages in a field's value, without markers; none of them is empty."""
    if value is None:
        return ()
    if isinstance(value, Passage):
        return (value,) if value.text.strip() else ()
    if isinstance(value, (list, tuple)):
        return tuple(chain.from_iterable(map(passages_in, value)))
    if isinstance(value, Mapping) and isinstance(value.get('text'), str):
        return passages_in(passages_of([value])[0])
    if not isinstance(value, str):
        return (Passage(str(value)),)
    groups: list[tuple[str, list[str]]] = []
    for line in value.splitlines():
        if line.lstrip().startswith(TOKEN_NOCHOSEN):
            continue
        # WoW lists the sentences that were shown as "title __knowledge__ sentence".
        title, marked, sentence = line.partition(f' {TOKEN_KNOWLEDGE} ')
        if not (marked and title):
            title, sentence = '', line
        if groups and (title == groups[-1][0] or not line.strip()):
            groups[-1][1].append(sentence)
        else:
            groups.append((title, [sentence]))
    passages = [Passage('\n'.join(lines), title) for title, lines in groups]
    while passages and not passages[0].text.strip():
        del passages[0]
    while passages and not passages[-1].text.strip():
        del passages[-1]
    if passages:
        passages[0] = passages[0]._replace(text=passages[0].text.lstrip())
        passages[-1] = passages[-1]._replace(text=passages[-1].text.rstrip())
    return tuple(passages)


def without_marked(turn: str) -> str:
    """A turn without the knowledge between markers in its text."""
    if TOKEN_KNOWLEDGE not in turn:
        return turn
    return _MARKED.sub('', turn).strip()


class TurnKnowledge(NamedTuple):
    """
    The knowledge of a turn, and where it was found.

    :param passages: best first; empty if there are none.
    :param in_fields: whether it came in a field of the message or between markers in
        its text, where a generator that reads knowledge finds it, too.
    :param in_text: whether it is before a delimiter in the text of this message or an
        earlier one.
    :param searched: whether documents were searched for it.
    :param declined: whether the turn is a question or request that nothing in them
        answers.
    :param question: the turn's question, if documents answer it.
    :param sentences: the sentences that answer it, the surest first.
    :param answers: the answers in these sentences.
    :param quote: the surest answer with the text around it.
    :param courtesy: a reply without claims, if the turn asks nothing.
    :param history: the turns before the reply, oldest first.
    """

    passages: tuple[Passage, ...]
    in_fields: bool = False
    in_text: bool = False
    searched: bool = False
    declined: bool = False
    question: str = ''
    sentences: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    quote: str = ''
    courtesy: str = ''
    history: tuple[str, ...] = ()

    @property
    def turn(self) -> Turn:
        return Turn(self.passages, self.history)

    @property
    def text(self) -> str:
        return joined(self.passages)


NOTHING = TurnKnowledge(())


class KnowledgeGrounder(Protocol):
    """
    Documents that are searched for the knowledge of a turn. Its ``reader`` finds
    answers in texts; without one, nothing is declined.
    """

    reader: Any

    def ground(self, histories: Sequence[Sequence[str]]) -> Sequence[TurnKnowledge]: ...

    def search(self, text: str) -> Sequence[Any]: ...


class KnowledgeSource:
    """
    Where knowledge comes from besides messages; made once, and shared by clones.

    :param delimiter: what separates a passage from the message inside a text.
    :param file: a text file, the knowledge for turns that bring none.
    :param grounder: searches documents, instead of all other knowledge.
    :ivar file_grounder: searches the file, where it has several passages.
    """

    def __init__(
        self,
        delimiter: str | None = None,
        file: str | None = None,
        grounder: KnowledgeGrounder | None = None,
    ):
        self.delimiter = line_ends(delimiter) if delimiter else None
        self.passages = read_passage(file) if file else ()
        self.grounder = grounder
        self.file_grounder: KnowledgeGrounder | None = None

    @property
    def any_grounder(self) -> KnowledgeGrounder | None:
        """What searches documents or the file; None if nothing does."""
        return self.grounder or self.file_grounder

    def of_episode(self, episode: Iterable[JsonMapping]) -> list[tuple[Passage, ...]]:
        """The knowledge of each turn of an episode; empty where there is none."""
        knowledge = EpisodeKnowledge(self)
        return [knowledge.find(message).passages for message in episode]


class EpisodeKnowledge:
    """The knowledge that is given in one episode."""

    def __init__(self, source: KnowledgeSource):
        self.source = source
        self.typed: tuple[Passage, ...] = ()
        self._in_text: tuple[Passage, ...] = ()

    def find(self, message: JsonMapping, earlier: Sequence[str] = ()) -> TurnKnowledge:
        """
        Find the next message's knowledge, if any; a search also uses ``earlier`` turns.
        """
        text = as_text(message.get('text'))
        if self.source.grounder is not None:
            if self.typed:
                return TurnKnowledge(self.typed)
            return self._searched(self.source.grounder, [*earlier, text])
        in_fields = find_passages(message)
        if in_fields:
            return TurnKnowledge(in_fields, in_fields=True)
        in_text = find_passages({'text': text}, self.source.delimiter)
        self._in_text = in_text or self._in_text
        if self._in_text:
            return TurnKnowledge(self._in_text, in_text=True)
        if self.source.file_grounder is not None and not self.typed:
            return self._searched(self.source.file_grounder, [*earlier, text])
        passages = self.typed or self.source.passages
        return TurnKnowledge(passages) if passages else NOTHING

    def _searched(
        self, grounder: KnowledgeGrounder, history: Sequence[str]
    ) -> TurnKnowledge:
        # Earlier turns still have the passages that were found for them.
        (knowledge,) = grounder.ground([self.dialogue(history)])
        return knowledge

    def dialogue(self, turns: Iterable[str]) -> tuple[str, ...]:
        """The turns without the knowledge inside their texts."""
        if self.source.delimiter:
            turns = [turn.rpartition(self.source.delimiter)[2] for turn in turns]
        return tuple(map(without_marked, turns))

    def end_episode(self) -> None:
        """Forget a passage from an earlier turn's text; keep what was typed."""
        self._in_text = ()

    def reset(self) -> None:
        self.typed = ()
        self.end_episode()


def read_passage(path: str) -> tuple[Passage, ...]:
    """The passage in a text file (``--knowledge-file``)."""
    try:
        text = Path(path).expanduser().read_text(encoding='utf-8').strip()
    except OSError as e:
        raise ConfigError(f'Cannot read --knowledge-file {path}: {e}') from e
    except ValueError as e:
        raise ConfigError(
            f'--knowledge-file {path} is not UTF-8 text ({e}). Index other '
            f'documents: parlai_q2 index {path} --outdir INDEX'
        ) from e
    if not text:
        raise ConfigError(f'--knowledge-file {path} is empty.')
    return (Passage(text),)
