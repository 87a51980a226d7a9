"""
Writes knowledge and history as the encoder's text, and cuts them when they are long.

When the text is longer than the encoder may read, history is cut first, starting with
the oldest words. Knowledge is cut only where it would not fit alone. Its beginning is
kept, and so is the end of the newest turn, in up to a quarter of the room.
"""

import re
from bisect import bisect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from string import Formatter

from parlai_q2.errors import ConfigError

# The shipped reply generator reads this many previous turns.
REPLY_TURNS = 2
# The prompt of the shipped reply model, by name.
REPLY = 'reply'
# The prompt of ParlAI's generators: the history's text as it is.
PLAIN = '{text}'
FIELDS = ('history', 'knowledge', 'text')
# The share of the room that the newest turn keeps where knowledge must be cut.
NEWEST_TURN_SHARE = 0.25


def reply_prompt(history: Sequence[str], knowledge: str) -> str:
    """The shipped reply generator's prompt, from the last two turns, oldest first."""
    turns = ' '.join(f'[{i}] {turn}' for i, turn in enumerate(history[-REPLY_TURNS:]))
    return f'respond: {turns} knowledge: {knowledge}'


@dataclass(frozen=True)
class Prompt:
    """
    A template for writing knowledge and history as one text.

    :param template: ``reply``, or a format string.
    :param delimiter: the text between turns in ``{history}`` and ``{text}``.
    :raises ConfigError: when the template is neither.
    """

    template: str = PLAIN
    delimiter: str = '\n'

    def __post_init__(self) -> None:
        if self.template == REPLY:
            return
        try:
            fields = self._fields
        except ValueError as e:
            raise ConfigError(
                f'--prompt-template {self.template!r} is not a format string: {e}.'
            ) from e
        if not fields or not fields <= set(FIELDS):
            names = ', '.join(sorted(map(str, fields))) or 'none'
            raise ConfigError(
                f'--prompt-template {self.template!r} has the fields: {names}. It must '
                f'have one or more of {{history}}, {{knowledge}} and {{text}}, and no '
                f'other; or be {REPLY!r}.'
            )

    @property
    def _fields(self) -> set[str]:
        """The names in braces, with their formats: ``{text:d}`` is not ``text``."""
        names = set()
        for _, field, format_spec, conversion in Formatter().parse(self.template):
            if field is not None:
                spec = f':{format_spec}' if format_spec else ''
                names.add(field + (f'!{conversion}' if conversion else '') + spec)
        return names

    @property
    def has_knowledge(self) -> bool:
        """Whether the template has a place for the knowledge."""
        return self.template == REPLY or 'knowledge' in self._fields

    @property
    def has_history(self) -> bool:
        """Whether the template has a place for the dialogue."""
        return self.template == REPLY or bool(self._fields & {'history', 'text'})

    @property
    def is_plain(self) -> bool:
        """Whether the prompt is ParlAI's history text with nothing taken out."""
        return 'text' in self._fields and not self.has_knowledge

    def render(self, turns: Sequence[str], knowledge: str) -> str:
        """The encoder's text; the turns, oldest first, and knowledge may be empty."""
        if self.template == REPLY:
            return reply_prompt(turns, knowledge)
        history = self.delimiter.join(turns)
        return self.template.format(history=history, text=history, knowledge=knowledge)


@dataclass(frozen=True)
class FittedPrompt:
    """A prompt's text as cut, its length before, and whether knowledge was cut."""

    text: str
    length: int
    knowledge_cut: bool = False


def fit(
    render: Callable[[Sequence[str], str], str],
    turns: Sequence[str],
    knowledge: str,
    count: Callable[[str], int],
    limit: int | None,
) -> FittedPrompt:
    """
    Render a prompt so that it has at most ``limit`` tokens (None: any number), unless
    the template's own words have more.

    :param render: makes a text of the last turns and knowledge, such as
        :meth:`Prompt.render`.
    :param turns: the dialogue so far, oldest turn first.
    :param count: gives the number of tokens in a text.
    """
    full = render(turns, knowledge)
    length = count(full)
    if limit is None or length <= limit:
        return FittedPrompt(full, length)

    def with_history(characters: int) -> str:
        return render(last_characters(turns, characters), knowledge)

    if count(with_history(0)) <= limit:
        size = sum(map(len, turns))
        kept_length = _largest(size, lambda n: count(with_history(n)) <= limit)
        return FittedPrompt(with_history(kept_length), length)

    # Not even the knowledge alone fits.
    newest: list[str] = []
    if turns:
        room = (limit - count(render([], ''))) * NEWEST_TURN_SHARE
        kept_length = _largest(
            len(turns[-1]),
            lambda n: count(''.join(last_characters(turns[-1:], n))) <= room,
        )
        newest = last_characters(turns[-1:], kept_length)

    def with_knowledge(characters: int) -> str:
        return render(newest, first_characters(knowledge, characters))

    kept_length = _largest(len(knowledge), lambda n: count(with_knowledge(n)) <= limit)
    return FittedPrompt(
        with_knowledge(kept_length), length, kept_length < len(knowledge)
    )


def last_characters(turns: Sequence[str], n: int) -> list[str]:
    """The last ``n`` characters of a dialogue, in whole words if there are spaces."""
    turns_kept: list[str] = []
    for turn in reversed(turns):
        if n >= len(turn):
            turns_kept.insert(0, turn)
            n -= len(turn)
            continue
        if n > 0:
            end = turn[-n:]
            if not turn[-n - 1].isspace() and re.search(r'\s', turn):
                end = ''.join(re.split(r'\s+', end, maxsplit=1)[1:])
            if end.strip():
                turns_kept.insert(0, end.lstrip())
        break
    return turns_kept


def first_characters(text: str, n: int) -> str:
    """The first ``n`` characters of a text, in whole words where there are spaces."""
    start = text[:n]
    if n >= len(text) or text[n].isspace() or not re.search(r'\s', text):
        return start
    # Drop a word that was cut in two.
    return re.sub(r'\S*$', '', start).rstrip()


def _largest(total: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to ``total`` that fits, where 0 does."""
    return bisect(range(1, total + 1), False, key=lambda n: not fits(n))
