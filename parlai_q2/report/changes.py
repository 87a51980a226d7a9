"""
Compares two runs over the same responses: which responses both have, what changed in
each, and why.

Two entries are paired if their id, knowledge and response are equal. Of the remaining
ones, those with equal knowledge and response are paired, since a run may lack ids, or
have the responses in another order. A response may occur several times in a run: its
first occurrences are paired, then the second ones, and so on.
"""

from collections import Counter, defaultdict, deque
from typing import Any, Callable, Hashable, Iterable, Mapping, NamedTuple, Sequence

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


# How a verdict differs between the two runs, in the order of the page.
FATES = (
    'answer',  # the knowledge gave another answer
    'comparison',  # the same answers, with another comparison
    'mark',  # without a question: other words, another status or sentence
    'before',  # only the first run asked the question
    'after',  # only the second run asked the question
    'same',
)


class Pairing(NamedTuple):
    """
    The responses of two runs, side by side: pairs in the order of the second run, how
    many are only in one of them, and how many ids are in both of these groups: the same
    record, with another response or other knowledge.
    """

    pairs: list[tuple[Entry, Entry]]
    only_before: int
    only_after: int
    other_text: int


def pair_up(before: Sequence[Entry], after: Sequence[Entry]) -> Pairing:
    """Pair the entries of two runs; there are no pairs if a run is empty."""
    keys: tuple[Callable[[Entry], Hashable], ...] = (_with_id, _texts)
    old, new = dict(enumerate(before)), dict(enumerate(after))
    partners: dict[int, Entry] = {}
    for key in keys:
        waiting: dict[Hashable, deque[int]] = defaultdict(deque)
        for place, entry in old.items():
            waiting[key(entry)].append(place)
        for place, entry in list(new.items()):
            if found := waiting.get(key(entry)):
                partners[place] = old.pop(found.popleft())
                del new[place]
    pairs = [(partners[n], after[n]) for n in sorted(partners)]
    ids = {entry['id'] for entry in old.values()}
    ids &= {entry['id'] for entry in new.values()}
    return Pairing(pairs, len(old), len(new), len(ids))


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
        :func:`compare_verdicts`; ``why``, how many verdicts differ in what way, and
        ``whole`` where only one run compared the whole response; ``changed``, whether
        the score or the label differs.
    """
    difference = round(after['score'] - before['score'], 4)
    rows = compare_verdicts(before['verdicts'], after['verdicts'])
    old, new = ({name: side[name] for name in _SIDE} for side in (before, after))
    flip = before['label'] != after['label']
    fates = Counter(fate for _, _, fate in rows)
    why = {name: fates[name] for name in FATES if name != 'same'}
    why['whole'] = int(before['fallback'] != after['fallback'])
    change = {
        'id': after['id'],
        'class': after['class'] or before['class'],
        'history': after['history'] or before['history'],
        'after': new,
        'difference': difference,
        'bin': bin_of(difference),
        'flip': flip,
        'rows': rows,
        'why': {name: count for name, count in why.items() if count},
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
        :data:`FATES`. The same question about the same words of the response is one
        row; without questions, words that overlap are, those that are equal first.
    """
    left, new = list(range(len(before))), list(range(len(after)))
    rows: list[tuple[int, int, str]] = []
    for same in (_equal, _overlap):
        for now in list(new):
            old = next((n for n in left if same(before[n], after[now])), None)
            if old is not None:
                left.remove(old)
                new.remove(now)
                rows.append((old, now, _fate(before[old], after[now])))
    rows += [(-1, n, 'after' if after[n]['question'] else 'mark') for n in new]
    rows += [(n, -1, 'before' if before[n]['question'] else 'mark') for n in left]
    return sorted(rows, key=lambda row: (FATES.index(row[2]), row[1] < 0, row[1]))


def _equal(before: Mapping, after: Mapping) -> bool:
    names = ('question', 'response', 'at')
    return all(before.get(name) == after.get(name) for name in names)


def _overlap(before: Mapping, after: Mapping) -> bool:
    (start, end), (left, right) = before.get('at', (0, 0)), after.get('at', (0, 0))
    return start < right and left < end


def _fate(before: Mapping, after: Mapping) -> str:
    def same(*names: str) -> bool:
        return all(before[name] == after[name] for name in names)

    if not after['question']:
        return 'same' if same('response', 'knowledge', 'status') else 'mark'
    if not same('knowledge'):
        return 'answer'
    return 'same' if same('comparison', 'score') else 'comparison'


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
    split = (pair.partition(':') for pair in pairs)
    found = {name: value for name, _, value in split}
    return {'scorer': scorer, **found} if scorer else found


def signatures_of(entries: Iterable[Mapping]) -> list[str]:
    """The distinct signatures of a run's entries, in order of appearance."""
    return list(dict.fromkeys(e['signature'] for e in entries if e['signature']))
