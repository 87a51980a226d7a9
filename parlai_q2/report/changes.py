"""
Compares two runs over the same responses: which responses both have, what changed in
each, and why.

Two entries are paired if their id, knowledge and response are equal. Of the remaining
ones, those with equal knowledge and response are paired, since a run may lack ids, or
have the responses in another order. A response may occur several times in a run: its
first occurrences are paired, then the second ones, and so on.
"""

from collections import defaultdict, deque
from dataclasses import dataclass
from typing import Any, Callable, Hashable, Iterable, Mapping, Sequence

from parlai_q2.report.entries import Entry

# The bins in a chart of differences: from -1 to 1 in steps of 0.2, half below 0.
BINS = 10

# The fields that a page shows for each run.
_SIDE = (
    'score',
    'label',
    'fallback',
    'response',
    'knowledge',
    'verdicts',
    'statements',
    'parts',
    'signature',
)


class Row:
    """How a verdict differs between the two runs, in one word."""

    SAME = 'same'
    ANSWER = 'answer'  # the knowledge gave another answer
    COMPARISON = 'comparison'  # the same answers, with another comparison
    BEFORE = 'before'  # only the first run asked the question
    AFTER = 'after'  # only the second run asked the question
    MARK = 'mark'  # without a question: other words, another status or sentence


# In the order of the page.
_ORDER = (Row.ANSWER, Row.COMPARISON, Row.MARK, Row.BEFORE, Row.AFTER, Row.SAME)


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
    """Pair the entries of two runs; there are no pairs if a run is empty."""
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
    """Pair entries that have the same key, and return what is left of both runs."""
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
    """The text of an entry's pieces, joined."""
    return ''.join(piece[0] for piece in pieces)


def change_of(before: Entry, after: Entry) -> dict[str, Any]:
    """
    How one response changed, as the page's data.

    :return: ``id``, ``class`` and ``history``; ``after``, and ``before`` unless nothing
        that is shown differs; ``difference`` of the scores in [-1, 1], and its ``bin``
        (-1 for none); ``flip``, whether the labels differ; ``rows`` of
        :func:`compare_verdicts`; ``why``, see :func:`why`; ``changed``, whether the
        score or the label differs.
    """
    difference = round(after['score'] - before['score'], 4)
    rows = compare_verdicts(before['verdicts'], after['verdicts'])
    old, new = ({name: side[name] for name in _SIDE} for side in (before, after))
    flip = before['label'] != after['label']
    change = {
        'id': after['id'],
        'class': after['class'] or before['class'],
        'history': after['history'] or before['history'],
        'after': new,
        'difference': difference,
        'bin': bin_of(difference),
        'flip': flip,
        'rows': rows,
        'why': why(before, after, rows),
        'changed': bool(difference or flip),
    }
    if old != {**new, 'signature': old['signature']}:
        change['before'] = old
    return change


def compare_verdicts(
    before: Sequence[Mapping], after: Sequence[Mapping]
) -> list[tuple[int, int, str]]:
    """
    The verdicts of two runs side by side, those that differ first.

    :return: for each verdict, its indices in both lists (-1 if missing) and one of
        :class:`Row`'s words. The same question about the same words of the response is
        one row; without questions, words that overlap are, those that are equal first.
    """
    left = list(range(len(before)))
    rows: list[tuple[int, int, str]] = []
    for same in (_equal, _overlap):
        paired = {now for _, now, _ in rows}
        for now, verdict in enumerate(after):
            if now in paired:
                continue
            old = next((n for n in left if same(before[n], verdict)), None)
            if old is not None:
                left.remove(old)
                rows.append((old, now, _fate(before[old], verdict)))
    paired = {now for _, now, _ in rows}
    for now, verdict in enumerate(after):
        if now not in paired:
            rows.append((-1, now, Row.AFTER if verdict['question'] else Row.MARK))
    for old in left:
        rows.append((old, -1, Row.BEFORE if before[old]['question'] else Row.MARK))
    return sorted(rows, key=lambda row: (_ORDER.index(row[2]), row[1] < 0, row[1]))


def _equal(before: Mapping, after: Mapping) -> bool:
    names = ('question', 'response', 'at')
    return all(before.get(name) == after.get(name) for name in names)


def _overlap(before: Mapping, after: Mapping) -> bool:
    (start, end), (left, right) = before.get('at', (0, 0)), after.get('at', (0, 0))
    return start < right and left < end


def _fate(before: Mapping, after: Mapping) -> str:
    if not after['question']:
        names = ('response', 'knowledge', 'status')
        same = all(before[name] == after[name] for name in names)
        return Row.SAME if same else Row.MARK
    if before['knowledge'] != after['knowledge']:
        return Row.ANSWER
    same = all(before[name] == after[name] for name in ('comparison', 'score'))
    return Row.SAME if same else Row.COMPARISON


def why(
    before: Entry, after: Entry, rows: Sequence[tuple[int, int, str]]
) -> dict[str, int]:
    """
    What may have changed a score: how many verdicts differ, and in what way.

    :return: counts above 0, by one of :class:`Row`'s words; and ``whole``, which is 1
        where only one of the runs fell back to comparing the whole response.
    """
    counts = dict.fromkeys(_ORDER, 0)
    for _, _, fate in rows:
        counts[fate] += 1
    del counts[Row.SAME]
    counts['whole'] = int(before['fallback'] != after['fallback'])
    return {name: count for name, count in counts.items() if count}


def bin_of(difference: float) -> int:
    """The bin of a difference, below :data:`BINS`; -1 for no difference."""
    if not difference:
        return -1
    half = BINS // 2
    step = min(int(round(abs(difference) * half, 6)), half - 1)
    return half + step if difference > 0 else half - 1 - step


def different_settings(before: str, after: str) -> list[tuple[str, str, str]]:
    """
    The settings in which two signatures differ, with both values; a value is empty if
    its signature lacks the setting.
    """
    old, new = _settings(before), _settings(after)
    names = dict.fromkeys([*old, *new])
    rows = [(name, old.get(name, ''), new.get(name, '')) for name in names]
    return [row for row in rows if row[1] != row[2]]


def _settings(signature: str) -> dict[str, str]:
    scorer, *pairs = signature.split('|')
    found = {'scorer': scorer} if scorer else {}
    for pair in pairs:
        name, _, value = pair.partition(':')
        found[name] = value
    return found


def signatures_of(entries: Iterable[Mapping]) -> list[str]:
    """The distinct signatures of a run's entries, in order of appearance."""
    return list(dict.fromkeys(e['signature'] for e in entries if e['signature']))
