"""
Compares one response in two runs: what changed, and why.
"""

from collections import defaultdict, deque
from typing import Any, Mapping, Sequence

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
    'parts',
    'signature',
)


class Row:
    """
    How a question differs between the two runs, in one word.
    """

    SAME = 'same'
    ANSWER = 'answer'  # the knowledge gave another answer
    COMPARISON = 'comparison'  # the same answers, with another comparison
    BEFORE = 'before'  # only the first run asked it
    AFTER = 'after'  # only the second run asked it


# In the order of the page.
_ORDER = (Row.ANSWER, Row.COMPARISON, Row.BEFORE, Row.AFTER, Row.SAME)


def change_of(before: Entry, after: Entry) -> dict[str, Any]:
    """
    How one response changed, as the page's data.

    :param before: the response's entry of the first run, see
        :func:`parlai_q2.report.entries.read_entry`.
    :param after: its entry of the second run.
    :return: a dict with

        - ``id``, ``class`` and ``history``;
        - ``after``, and ``before`` unless nothing that is shown differs;
        - ``difference`` of the scores in [-1, 1], and its ``bin`` (-1 for none);
        - ``flip``, whether the labels differ;
        - ``rows``, what :func:`compare_verdicts` returns;
        - ``why``, what :func:`why` returns;
        - ``changed``, whether the score or the label differs.
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
    The questions of two runs side by side, those that differ first.

    :param before: verdicts of the first run as the page's data.
    :param after: verdicts of the second run.
    :return: for each question, its indices in both lists (-1 if missing) and one of
        :class:`Row`'s words. The same question about the same words of the response is
        one row.
    """
    waiting: dict[tuple[str, str], deque[int]] = defaultdict(deque)
    for place, verdict in enumerate(before):
        waiting[verdict['question'], verdict['response']].append(place)
    rows, taken = [], set()
    for place, verdict in enumerate(after):
        found = waiting.get((verdict['question'], verdict['response']))
        if found:
            old = found.popleft()
            taken.add(old)
            rows.append((old, place, _fate(before[old], verdict)))
        else:
            rows.append((-1, place, Row.AFTER))
    rows += [(n, -1, Row.BEFORE) for n in range(len(before)) if n not in taken]
    return sorted(rows, key=lambda row: _ORDER.index(row[2]))


def _fate(before: Mapping, after: Mapping) -> str:
    if before['knowledge'] != after['knowledge']:
        return Row.ANSWER
    same = all(before[name] == after[name] for name in ('comparison', 'score'))
    return Row.SAME if same else Row.COMPARISON


def why(
    before: Entry, after: Entry, rows: Sequence[tuple[int, int, str]]
) -> dict[str, int]:
    """
    What may have changed a score: how many questions differ, and in what way.

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
    """
    The index of the bin of a difference, below :data:`BINS`; -1 for no difference.
    """
    if not difference:
        return -1
    half = BINS // 2
    step = min(int(round(abs(difference) * half, 6)), half - 1)
    return half + step if difference > 0 else half - 1 - step
