"""
Finds the responses that two runs have in common.

A response is the same where id, knowledge and response are; of those that are left,
where knowledge and response are (one run may not have written ids, or the files may be
in another order). The same response may stand in a run more than once: the first is
paired with the first, and so on.
"""

from collections import defaultdict, deque
from dataclasses import dataclass
from typing import Callable, Hashable, Sequence

from parlai_q2.report.entries import Entry


@dataclass(frozen=True)
class Pairing:
    """
    The responses of two runs, side by side.

    :param pairs: those in both, in the second run's order.
    :param only_before: those of the first run that the second has not.
    :param only_after: those of the second run that the first has not.
    :param other_text: ids among both of these: the same record, another response or
        other knowledge.
    """

    pairs: list[tuple[Entry, Entry]]
    only_before: int
    only_after: int
    other_text: int


def pair_up(before: Sequence[Entry], after: Sequence[Entry]) -> Pairing:
    """
    Pair the responses of two runs.

    :param before: entries of the first run.
    :param after: entries of the second.
    :return: the pairs, and counts of what is left. Empty for an empty run.
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
    Add partners that have the same key; gives what is left of both.
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
    The text that an entry's pieces make.
    """
    return ''.join(piece[0] for piece in pieces)
