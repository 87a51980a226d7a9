"""
The chunks that are under way, cut into pieces. A piece is sent to an actor in one call:
at first a whole chunk, and where a chunk has killed several actors its halves, until
the item that kills them is found.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Optional

# An item, or a chunk before it is halved, may kill so many actors.
MAX_DEATHS = 3


@dataclass(eq=False)
class Piece:
    """
    Consecutive items of a chunk.

    :param slot: of its chunk.
    :param start: the place of its first item in the chunk.
    :param deaths: how many actors have died of it.
    :param most: how many may, before it is halved or given up.
    """

    slot: 'Slot'
    start: int
    items: list[Any]
    deaths: int = 0
    most: int = MAX_DEATHS

    def halves(self) -> list['Piece']:
        """The same items in two pieces."""
        middle = len(self.items) // 2
        return [
            # Of several items, one death is enough to halve again: they are suspects.
            Piece(
                self.slot,
                self.start + at,
                items,
                most=1 if len(items) > 1 else MAX_DEATHS,
            )
            for at, items in ((0, self.items[:middle]), (middle, self.items[middle:]))
        ]


@dataclass(eq=False)
class Slot:
    """A chunk that is under way, and the results that it has so far."""

    chunk: Any
    results: list[Any]
    missing: int

    def put(self, piece: Piece, results: list[Any]) -> None:
        """Put the results of a piece in their place."""
        self.results[piece.start : piece.start + len(results)] = results
        self.missing -= len(results)


@dataclass
class Window:
    """
    The chunks that were read and not given back yet, oldest first, and the pieces of
    them that wait for an actor.

    :param chunks: where more come from.
    :param most: so many chunks may be in it.
    """

    chunks: Iterator[Any]
    most: int
    slots: deque[Slot] = field(default_factory=deque)
    waiting: deque[Piece] = field(default_factory=deque)
    # No more chunks will come.
    read_all: bool = False

    def fill(self, pieces: int) -> None:
        """Read chunks until so many pieces wait, or the window is full."""
        while len(self.waiting) < pieces and len(self.slots) < self.most:
            chunk = None if self.read_all else next(self.chunks, None)
            if chunk is None:
                self.read_all = True
                return
            items = list(chunk.items)
            slot = Slot(chunk, [None] * len(items), len(items))
            self.slots.append(slot)
            if items:
                self.waiting.append(Piece(slot, 0, items))

    def next_done(self) -> Optional[tuple[Any, list[Any]]]:
        """The oldest chunk and its results, if it has them all; it leaves."""
        if not self.slots or self.slots[0].missing:
            return None
        slot = self.slots.popleft()
        return slot.chunk, slot.results

    @property
    def empty(self) -> bool:
        """Whether everything was read and given back."""
        return self.read_all and not self.slots

    def again(self, piece: Piece) -> None:
        """Work on a piece again, before others: the oldest chunk waits for it."""
        self.waiting.appendleft(piece)
