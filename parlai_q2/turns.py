"""
A turn of a conversation, with the knowledge that its reply should rest on.

A :class:`Turn` has its knowledge as passages, and the turns before the reply. An
:class:`Example` is a turn with a response to score; a
:class:`~parlai_q2.rerank.candidate.Pool` is a turn with candidates to choose from.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from parlai_q2.errors import InputError

_SURROGATES = re.compile('[\ud800-\udfff]')
# Between the passages of one knowledge text.
PASSAGE_END = '\n'


class Span(NamedTuple):
    """
    A piece of a text: ``whole[start:end] == text``.

    >>> whole = 'It opened in 1969.'
    >>> span = Span('1969', 13, 17)
    >>> whole[span.start : span.end] == span.text
    True
    """

    text: str
    start: int
    end: int


class Source(NamedTuple):
    """
    The source of a passage.

    :param file: the document, as its owner names it: a path or an address.
    :param heading: the headings above it, the outermost first.
    :param place: the place in the document, such as ``page 3``.

    >>> Source('bees.pdf', 'Bees > Eyes', 'page 3').heading
    'Bees > Eyes'
    """

    file: str
    heading: str = ''
    place: str = ''


class Passage(NamedTuple):
    """
    A passage of the knowledge; scorers read neither its title nor its source.

    >>> Example([Passage('Bees have five eyes.', 'Bee')], 'Five.').knowledge[0].title
    'Bee'
    """

    text: str
    title: str = ''
    source: Source | None = None


def heading_of(passage: Passage) -> str:
    """
    The name of a passage: its nearest heading in its document, or its title.

    >>> heading_of(Passage('Five.', 'Bee', Source('bees.pdf', 'Bees > Eyes')))
    'Eyes'
    """
    heading = passage.source.heading.rpartition(' > ')[2] if passage.source else ''
    return heading or passage.title


# The accepted forms of knowledge: a text, or passages, each a text or a mapping.
Knowledge = str | Sequence[str | Passage | Mapping[str, Any]]


def without_surrogates(text: str) -> str:
    """
    Replace lone surrogates, which emoji cut in two leave and UTF-8 cannot encode, by
    U+FFFD.
    """
    if text.isascii():
        return text
    return _SURROGATES.sub('\ufffd', text)


def joined(passages: Iterable[Passage]) -> str:
    """
    Passages as one text.

    >>> joined([Passage('Bees.'), Passage('Ants.', 'Ant')])
    'Bees.\\nAnts.'
    """
    return PASSAGE_END.join(passage.text for passage in passages)


def passages_of(knowledge: Knowledge) -> tuple[Passage, ...]:
    """
    The passages in a value of knowledge.

    :param knowledge: a text, or a list of passages: texts, or mappings with ``text``
        and, optionally, ``title`` and ``source`` (``file``, ``heading``, ``place``).
    :raises InputError: if it is something else.

    >>> passages_of([{'title': 'Bee', 'text': 'Bees have five eyes.'}])
    (Passage(text='Bees have five eyes.', title='Bee', source=None),)
    """
    if isinstance(knowledge, str):
        return (Passage(without_surrogates(knowledge)),) if knowledge else ()
    if not isinstance(knowledge, (list, tuple)) or isinstance(knowledge, Passage):
        raise InputError(
            'Example.knowledge must be a string or a list of passages, not '
            f'{type(knowledge).__name__}. Give knowledge="" if there is none.'
        )
    return tuple(_passage(n, value) for n, value in enumerate(knowledge))


def _passage(number: int, value: object) -> Passage:
    text, title, source = value, '', None
    if isinstance(value, Mapping):
        text, title = value.get('text'), value.get('title') or ''
        source = _source(number, value.get('source'))
    elif isinstance(value, Passage):
        text, title, source = value
    if not isinstance(text, str) or not isinstance(title, str):
        raise InputError(
            f'Passage {number} of the knowledge must be a string or have "text" and, '
            f'optionally, "title", both strings; got {str(value)[:40]!r}.'
        )
    return Passage(without_surrogates(text), without_surrogates(title), source)


def _source(number: int, value: Any) -> Source | None:
    if value is None:
        return None
    fields = value if isinstance(value, Mapping) else {'file': value}
    texts = [fields.get(name) or '' for name in Source._fields]
    if not all(isinstance(text, str) for text in texts):
        raise InputError(
            f'The source of passage {number} of the knowledge must have "file" and, '
            f'optionally, "heading" and "place", strings; got {str(value)[:40]!r}.'
        )
    return Source(*map(without_surrogates, texts))


def stripped(passages: tuple[Passage, ...]) -> tuple[Passage, ...]:
    """Strip a single passage of white space; return nothing if all are blank."""
    if len(passages) == 1:
        passages = (passages[0]._replace(text=passages[0].text.strip()),)
    return passages if joined(passages).strip() else ()


def as_field(passages: tuple[Passage, ...]) -> Any:
    """
    Passages as the ``knowledge`` of a record: a single plain passage becomes a text.
    """
    rows = [_as_row(passage) for passage in passages]
    if len(rows) < 2 and all(isinstance(row, str) for row in rows):
        return joined(passages)
    return rows


def _as_row(passage: Passage) -> Any:
    row: dict[str, Any] = {'title': passage.title} if passage.title else {}
    if passage.source is not None:
        source = passage.source._asdict()
        row['source'] = {name: text for name, text in source.items() if text}
    return {**row, 'text': passage.text} if row else passage.text


def _history(turns: object) -> tuple[str, ...]:
    if isinstance(turns, str):
        raise InputError(
            'history must be a list of turns, not one string: write [text].'
        )
    if not isinstance(turns, Iterable) or isinstance(turns, bytes):
        raise InputError(
            'history must be a list of turns, not '
            f'{type(turns).__name__}. Give history=() if there is none.'
        )
    texts = tuple(turns)
    for turn in texts:
        if not isinstance(turn, str):
            raise InputError(
                'history must be a list of strings, but there is a '
                f'{type(turn).__name__} in it.'
            )
    return tuple(map(without_surrogates, texts))


@dataclass(frozen=True, init=False)
class Turn:
    """
    A turn of a conversation before its reply.

    :param knowledge: a text or a list of passages that should support the reply, see
        :func:`passages_of`; may be empty. Lone surrogates, which JSON allows but no
        model can read, are replaced by U+FFFD; offsets do not change.
    :param history: the turns before the reply, oldest first; may be empty. Lone
        surrogates are replaced, too.
    :param id: any identifier of the turn.

    >>> turn = Turn('Bees have five eyes.', ['Hello.', 'How many eyes?'])
    >>> turn.text, turn.knowledge_text
    ('How many eyes?', 'Bees have five eyes.')
    """

    knowledge: tuple[Passage, ...]
    history: tuple[str, ...] = ()
    id: str | None = None

    def __init__(
        self,
        knowledge: Knowledge = '',
        history: Sequence[str] = (),
        id: str | None = None,
    ):
        object.__setattr__(self, 'knowledge', passages_of(knowledge))
        object.__setattr__(self, 'history', _history(history))
        object.__setattr__(self, 'id', id)

    @property
    def text(self) -> str:
        """The last turn, which the reply answers; empty if there is none."""
        return self.history[-1] if self.history else ''

    @cached_property
    def knowledge_text(self) -> str:
        """The passages as one text, with line breaks between them."""
        return joined(self.knowledge)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The texts of the passages: all that scorers read of the knowledge."""
        return tuple(passage.text for passage in self.knowledge)


@dataclass(frozen=True, init=False)
class Example(Turn):
    """
    A response to score against the knowledge of its turn.

    :param knowledge: as for :class:`Turn`.
    :param response: the model's response; may be empty.
    :param history: as for :class:`Turn`. Scores do not depend on it; it is kept for
        people who read them.

    >>> Example('Bees have five eyes.', 'Five, I think.', ['How many eyes?']).history
    ('How many eyes?',)
    """

    response: str = ''

    def __init__(
        self,
        knowledge: Knowledge,
        response: str | None = None,  # None is an InputError
        history: Sequence[str] = (),
        id: str | None = None,
    ):
        if not isinstance(response, str):
            raise InputError(
                f'Example.response must be a string, not {type(response).__name__}. '
                'Give response="" if there is none.'
            )
        super().__init__(knowledge, history, id)
        object.__setattr__(self, 'response', without_surrogates(response))
