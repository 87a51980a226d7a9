"""
Compares two runs: two scorings of the same responses, or two systems' responses to the
same turns; what changed in each, and why.

Two entries are paired if their id, knowledge and response are equal; of the remaining
ones, those with equal knowledge and response, since a run may lack ids. If more entries
have equal ids, knowledge and history than that pairs, the runs are of two systems, and
these are the pairs: what both happen to say is only a part of what they said. Where a
run lacks ids, knowledge and history decide. The occurrences of something that a run has
several times are paired in order.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from parlai_q2.report.entries import Entry
from parlai_q2.signature import Signature

# How a claim differs between two runs, in the order of the page: the knowledge gave
# another answer; it was compared otherwise; what was marked without a question has
# other words, another status or sentence; only one of the runs asked the question.
FATES = ('answer', 'comparison', 'mark', 'before', 'after', 'same')

# The fields that both runs share, and the candidates, which the page does not show.
_NOT_OF_A_SIDE = ('id', 'class', 'history', 'rerank')


class Pairing(NamedTuple):
    """
    The responses in both of two runs, in the order of the second; how many are only in
    the first, and only in the second; how many ids are in both of these groups, as
    the same record with another response or other knowledge; and whether the runs are
    of two systems.
    """

    pairs: list[tuple[Entry, Entry]]
    only_before: int
    only_after: int
    other_text: int
    systems: bool = False


def pair_up(before: Sequence[Entry], after: Sequence[Entry]) -> Pairing:
    """Pair the entries of two runs; there are no pairs if a run is empty."""
    same = _paired(before, after, (_with_id, _texts))
    named = _named(before) and _named(after)
    turns = _paired(before, after, (_turn,) if named else (_turn, _context))
    return turns._replace(systems=True) if len(turns.pairs) > len(same.pairs) else same


def _paired(
    before: Sequence[Entry],
    after: Sequence[Entry],
    keys: Sequence[Callable[[Entry], Hashable]],
) -> Pairing:
    old, new = dict(enumerate(before)), dict(enumerate(after))
    partners: dict[int, Entry] = {}
    for key in keys:
        waiting: dict[Hashable, deque[int]] = defaultdict(deque)
        for place, entry in old.items():
            waiting[key(entry)].append(place)
        for place, entry in list(new.items()):
            if found := waiting[key(entry)]:
                partners[place] = old.pop(found.popleft())
                del new[place]
    pairs = [(partners[place], after[place]) for place in sorted(partners)]
    ids = {e['id'] for e in old.values()} & {e['id'] for e in new.values()}
    return Pairing(pairs, len(old), len(new), len(ids))


def _texts(entry: Entry) -> tuple[str, ...]:
    knowledge, response = entry['knowledge'], entry['response']
    return tuple(''.join(p[0] for p in pieces) for pieces in (knowledge, response))


def _turn(entry: Entry) -> tuple[Hashable, ...]:
    # The id, or the place of an entry without one.
    return entry['id'], *_context(entry)


def _context(entry: Entry) -> tuple[Hashable, ...]:
    return _texts(entry)[0], tuple(entry['history'])


def _named(entries: Sequence[Entry]) -> bool:
    """Whether ids are more than places, which rise from entry to entry."""
    ids = [entry['id'] for entry in entries]
    if not all(map(str.isdecimal, ids)):
        return True
    places = list(map(int, ids))
    return places != sorted(set(places))


def _with_id(entry: Entry) -> tuple[str, ...]:
    return (entry['id'], *_texts(entry))


def change_of(before: Entry, after: Entry) -> dict[str, Any]:
    """
    How one response changed, as the page's data.

    :return: ``id``, ``class`` and ``history``; ``before`` and ``after``; ``difference``
        of the scores in [-1, 1]; ``flip``, whether the labels differ; ``other``,
        whether the responses do; ``rows`` of
        :func:`compare_claims`; ``why``, how many claims differ by fate, and
        ``whole`` where only one of the runs compared the whole response; ``changed``,
        whether the score or the label differs.
    """
    difference = round(after['score'] - before['score'], 4)
    flip = before['label'] != after['label']
    other = _texts(before)[1] != _texts(after)[1]
    # Of two responses, each has evidence of its own.
    rows = [] if other else compare_claims(before['claims'], after['claims'])
    why = Counter(fate for _, _, fate in rows if fate != 'same')
    if not other and before['fallback'] != after['fallback']:
        why['whole'] = 1
    return {
        'id': after['id'],
        'class': after['class'] or before['class'],
        'history': after['history'] or before['history'],
        'before': _side(before),
        'after': _side(after),
        'difference': difference,
        'flip': flip,
        'other': other,
        'rows': rows,
        'why': why,
        'changed': bool(difference or flip),
    }


def _side(entry: Entry) -> Entry:
    return {k: v for k, v in entry.items() if k not in _NOT_OF_A_SIDE}


def compare_claims(
    before: Sequence[Mapping], after: Sequence[Mapping]
) -> list[tuple[int, int, str]]:
    """
    The claims of two runs side by side, those that differ first; where something was
    asked, those with questions.

    :return: for each claim, its indices in both lists (-1 if missing) and one of
        :data:`FATES`. The same question about the same words of the response is one
        row; without questions, words that overlap are, those that are equal first.
    """
    left, right = _marks(before), _marks(after)
    rows: list[tuple[int, int, str]] = []
    for same in (_equal, _overlap):
        for now in list(right):
            old = next((n for n in left if same(before[n], after[now])), None)
            if old is not None:
                left.remove(old)
                right.remove(now)
                rows.append((old, now, _fate(before[old], after[now])))
    rows += [(-1, n, 'after' if after[n]['question'] else 'mark') for n in right]
    rows += [(n, -1, 'before' if before[n]['question'] else 'mark') for n in left]
    return sorted(rows, key=lambda row: (FATES.index(row[2]), row[1] < 0, row[1]))


def _marks(claims: Sequence[Mapping]) -> list[int]:
    """The places of the claims with questions, or of all if nothing was asked."""
    asked = [n for n, claim in enumerate(claims) if claim['question']]
    return asked or list(range(len(claims)))


def _equal(before: Mapping, after: Mapping) -> bool:
    # A question is about a word, wherever it stands.
    names = ('question', 'text') if after['question'] else ('question', 'text', 'at')
    return all(before[name] == after[name] for name in names)


def _overlap(before: Mapping, after: Mapping) -> bool:
    (start, end), (left, right) = before['at'], after['at']
    neither_asked = not before['question'] and not after['question']
    return neither_asked and start < right and left < end


def _fate(before: Mapping, after: Mapping) -> str:
    differ = {name for name in after if before[name] != after[name]}
    if not after['question']:
        return 'mark' if differ & {'text', 'evidence', 'status'} else 'same'
    if 'evidence' in differ:
        return 'answer'
    return 'comparison' if differ & {'comparison', 'support'} else 'same'


def signatures_of(entries: Iterable[Mapping]) -> list[str]:
    """The distinct signatures of a run's entries, in order of appearance."""
    return list(dict.fromkeys(e['signature'] for e in entries if e['signature']))


def different_settings(before: str, after: str) -> list[tuple[str, str, str]]:
    """
    The settings in which two signatures differ, with both values; a value is empty if
    its signature lacks the setting.
    """
    old, new = (
        {'scorer': one.scorer, **one.texts(), 'version': one.version}
        for one in map(Signature.from_text, (before, after))
    )
    rows = [(name, old.get(name, ''), new.get(name, '')) for name in {**old, **new}]
    return [row for row in rows if row[1] != row[2]]
