"""
Finds the responses that two runs have in common.

Two entries are paired if their id, knowledge and response are equal. Of the remaining
ones, those with equal knowledge and response are paired, since a run may lack ids, or
have the responses in another order. A response may occur several times in a run: its
first occurrences are paired, then the second ones, and so on.
"""

from collections import defaultdict, deque
from dataclasses import dataclass
from typing import Callable, Hashable, Sequence

from parlai_q2.report.entries import Entry


@dataclass(frozen=True)
class Pairing:
    """
    The responses of two runs, side by side.

    :param pairs: the responses in both runs, in the order of the second.
    :param only_before: number of responses only in the first run.
    :param only_after: number of responses only in the second run.
    :param other_text: number of ids in both of these groups: the same record, with
        another response or other knowledge.
    """

    pairs: list[tuple[Entry, Entry]]
    only_before: int
    only_after: int
    other_text: int


def pair_up(before: Sequence[Entry], after: Sequence[Entry]) -> Pairing:
    """
    Pair the responses of two runs.

    :param before: entries of the first run.
    :param after: entries of the second run.
    :return: the pairs, and counts of unpaired responses. There are no pairs if a run is
        empty.
    """
    partners: dict[int, Entry] = {}
    old, new = list(before), list(enumerate(after))
    for key in (_with_id, _texts):
        old, new = _match(old, new, key, partners)
    pairs = [(partners[n], entry) for n, entry in enumerate(after) if n in partners]
    ids = {entry['id'] for entry in old} & {entry['id'] for _, entry in new}
    return Pairing(pairs, len(old), len(new), len(ids))


def _match(
    old: list[Entry],
    new: list[tuple[int, Entry]],
    key: Callable[[Entry], Hashable],
    partners: dict[int, Entry],
) -> tuple[list[Entry], list[tuple[int, Entry]]]:
    """
    Pair entries that have the same key, and return what is left of both runs.
    """
    waiting: dict[Hashable, deque[int]] = defaultdict(deque)
    for place, entry in enumerate(old):
        waiting[key(entry)].append(place)
    taken: set[int] = set()
    left = []
    for place, entry in new:
        found = waiting.get(key(entry))
        if found:
            taken.add(found[0])
            partners[place] = old[found.popleft()]
        else:
            left.append((place, entry))
    return [entry for n, entry in enumerate(old) if n not in taken], left


def _texts(entry: Entry) -> tuple[str, str]:
    return plain(entry['knowledge']), plain(entry['response'])


def _with_id(entry: Entry) -> tuple[str, str, str]:
    return (entry['id'], *_texts(entry))


def plain(pieces: Sequence[Sequence]) -> str:
    """
    The text of an entry's pieces, joined.
    """
    return ''.join(piece[0] for piece in pieces)
