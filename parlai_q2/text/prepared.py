"""A text prepared for a scorer, with the position of each character in the original."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from parlai_q2.turns import Span


class PreparedText(NamedTuple):
    """
    A text for scorers, and where it stands in the original.

    :param text: the prepared text.
    :param original: the text as it was given.
    :param places: for each character of ``text`` the index of the one in the original
        that it was made of; None if the two texts are equal.
    """

    text: str
    original: str
    places: Sequence[int] | None = None

    def locate(self, span: Span) -> Span:
        """The span of the original that a span of the prepared text was made of."""
        if self.places is None or not span.text:
            return span
        start, end = self.places[span.start], self.places[span.end - 1] + 1
        return Span(self.original[start:end], start, max(start, end))

    def replace(
        self, pattern: re.Pattern[str], new: Callable[[re.Match[str]], str | None]
    ) -> 'PreparedText':
        """
        The text with matches of a pattern replaced.

        :param new: the text that replaces a match; None keeps it.
        """
        edits = [
            (m, text)
            for m in pattern.finditer(self.text)
            if (text := new(m)) is not None
        ]
        return self.edit([(m.start(), m.end(), text) for m, text in edits])

    def edit(self, edits: Sequence[tuple[int, int, str]]) -> 'PreparedText':
        """
        The text with some pieces replaced.

        :param edits: the start and the end of each piece and its new text, in order.
        """
        if not edits:
            return self
        old = range(len(self.text)) if self.places is None else self.places
        parts: list[str] = []
        places: list[int] = []
        end_of_last = 0
        for start, end, new in edits:
            parts += [self.text[end_of_last:start], new]
            places += old[end_of_last:start]
            places += _spread(self.text[start:end], new, old, start, end)
            end_of_last = end
        parts.append(self.text[end_of_last:])
        places += old[end_of_last:]
        return PreparedText(''.join(parts), self.original, places)


def _spread(
    piece: str, new: str, old: Sequence[int], start: int, end: int
) -> list[int]:
    """The places of a replacement: where the piece has it, or the piece's first."""
    at = piece.find(new) if new else -1
    if at >= 0:
        return list(old[start + at : start + at + len(new)])
    place = old[start] if start < len(old) else (old[-1] if old else 0)
    return [place] * len(new)
