"""
A page's figures over all its responses, and what its bar charts show.
``pages/macros.html`` draws them.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Iterable, Mapping, NamedTuple, Optional, Sequence

from parlai_q2.bootstrap import Interval, mean_interval
from parlai_q2.records import Label
from parlai_q2.report.changes import BINS as DIFFERENCE_BINS
from parlai_q2.report.entries import before_and_after

BINS = 10
# From bottom to top; labels of other scorers come last, in grey.
_ORDER = (
    Label.CONSISTENT,
    Label.GENERIC,
    Label.NOT_VERIFIABLE,
    Label.INCONSISTENT,
)


@dataclass
class Mean:
    """A mean that grows by one value at a time."""

    count: int = 0
    total: float = 0.0

    def add(self, value: float) -> None:
        """Add one value."""
        self.count += 1
        self.total += value

    @property
    def value(self) -> Optional[float]:
        """The mean; None for no values."""
        return self.total / self.count if self.count else None


@dataclass
class Figures:
    """
    The figures of a report over all its responses.

    :param classes: mean score by human label.
    :param bins: number of responses by label, for each tenth of the score.
    :param fallbacks: number of responses without a valid question.
    :param first: mean score of the generator's first candidates, over reranked turns.
    :param chosen: mean score of the chosen candidates, over the same turns.
    :param changed: number of reranked turns that chose another candidate than the
        first.
    :param signatures: the signatures of the scores, in order of appearance.
    """

    score: Mean = field(default_factory=Mean)
    labels: Counter = field(default_factory=Counter)
    classes: dict[str, Mean] = field(default_factory=dict)
    bins: list[Counter] = field(default_factory=lambda: [Counter() for _ in range(10)])
    questions: int = 0
    with_questions: int = 0
    comparisons: Counter = field(default_factory=Counter)
    fallbacks: int = 0
    reranked: int = 0
    changed: int = 0
    first: Mean = field(default_factory=Mean)
    chosen: Mean = field(default_factory=Mean)
    signatures: Counter = field(default_factory=Counter)

    def add(self, entry: Mapping) -> None:
        """Add one response, as :func:`parlai_q2.report.entries.read_entry` gives it."""
        score, label = entry['score'], entry['label']
        self.score.add(score)
        self.labels[label] += 1
        self.bins[bin_of(score)][label] += 1
        if entry['class']:
            self.classes.setdefault(entry['class'], Mean()).add(score)
        asked = [v['comparison'] for v in entry['verdicts'] if v['question']]
        self.questions += len(asked)
        self.with_questions += bool(asked)
        self.comparisons.update(asked)
        self.fallbacks += entry['fallback']
        if entry['signature']:
            self.signatures[entry['signature']] += 1
        if entry['rerank']:
            self._add_rerank(entry['rerank'])

    def _add_rerank(self, candidates: Sequence[Mapping]) -> None:
        first, chosen = before_and_after(candidates)
        self.reranked += 1
        if first is None or chosen is None:
            return
        self.changed += first is not chosen
        if first['score'] is not None and chosen['score'] is not None:
            self.first.add(first['score'])
            self.chosen.add(chosen['score'])


@dataclass
class TwoRunFigures:
    """
    The figures of two runs over all pairs.

    :param differences: second score minus first score of each pair, in [-1, 1].
    :param labels: number of pairs by label before and after.
    :param classes: mean scores before and after, by human label.
    :param bins: number of pairs by difference; pairs of equal scores are in no bin.
    """

    before: Mean = field(default_factory=Mean)
    after: Mean = field(default_factory=Mean)
    differences: list[float] = field(default_factory=list)
    labels: Counter = field(default_factory=Counter)
    classes: dict[str, tuple[Mean, Mean]] = field(default_factory=dict)
    bins: list[int] = field(default_factory=lambda: [0] * DIFFERENCE_BINS)

    def add(self, change: Mapping) -> None:
        """Add one pair, as :func:`~parlai_q2.report.changes.change_of` gives it."""
        after = change['after']
        before = change.get('before', after)
        self.before.add(before['score'])
        self.after.add(after['score'])
        self.differences.append(change['difference'])
        self.labels[before['label'], after['label']] += 1
        if change['class']:
            means = self.classes.setdefault(change['class'], (Mean(), Mean()))
            for mean, side in zip(means, (before, after), strict=True):
                mean.add(side['score'])
        if change['bin'] >= 0:
            self.bins[change['bin']] += 1

    @property
    def flips(self) -> int:
        """Number of pairs whose label changed."""
        return sum(n for (old, new), n in self.labels.items() if old != new)

    @property
    def higher(self) -> int:
        """Number of pairs whose score rose."""
        return sum(difference > 0 for difference in self.differences)

    @property
    def lower(self) -> int:
        """Number of pairs whose score fell."""
        return sum(difference < 0 for difference in self.differences)

    def interval(self) -> Optional[Interval]:
        """
        The mean difference with its 95 % bootstrap interval, which draws whole pairs;
        None without pairs.
        """
        return mean_interval(self.differences) if self.differences else None


def bin_of(score: float) -> int:
    """
    The index of a score in a histogram of tenths: 0.3 is in [0.3, 0.4), 1 is in the
    last bin.
    """
    return min(int(score * BINS), BINS - 1)


class Bar(NamedTuple):
    """
    A bar, or a part of one; lengths are shares of the plot's height.

    :param kind: its CSS class, which gives it its colour.
    """

    kind: str
    bottom: float
    height: float


class Chart(NamedTuple):
    """
    A bar chart whose columns can be clicked.

    :param described: what it shows, in words.
    :param tallest: the count at the plot's upper end.
    :param columns: of each column the tooltip and the bars.
    :param ticks: below the base line, as share of the width, text and ``text-anchor``.
    :param middle: whether a line stands in the middle.
    :param key: what the colours mean, as CSS class and text.
    """

    title: str
    described: str
    tallest: int
    columns: list[tuple[str, list[Bar]]]
    ticks: list[tuple[float, str, str]]
    middle: bool
    key: list[tuple[str, str]]


def score_chart(figures: Figures) -> Chart:
    """The scores of at least one response in tenths, each bar divided by label."""
    counted = [sum(counts.values()) for counts in figures.bins]
    tallest, columns = max(counted), []
    for place, counts in enumerate(figures.bins):
        bars, below = [], 0
        labels = sorted(counts, key=_rank)
        for label in labels:
            bars.append(Bar(_kind(label), below / tallest, counts[label] / tallest))
            below += counts[label]
        words = ', '.join(f'{counts[n]:,} {n.replace("_", " ")}' for n in labels)
        title = f'score {_tenth(place)}: {below:,}' + (f' ({words})' if words else '')
        columns.append((title, bars))
    ticks = [
        (n / BINS, f'{n / BINS:.1f}', 'end' if n == BINS else 'middle')
        for n in range(0, BINS + 1, 2)
    ]
    labels = sorted(figures.labels, key=_rank)
    return Chart(
        'Responses by score',
        _described((_tenth(n), count) for n, count in enumerate(counted)),
        tallest,
        columns,
        ticks,
        False,
        [(_kind(label), label.replace('_', ' ')) for label in labels],
    )


def difference_chart(figures: TwoRunFigures) -> Chart:
    """
    The differences between two runs below 0 and above 0; ``tallest`` is 0 if no score
    differs.
    """
    tallest, half = max(figures.bins), DIFFERENCE_BINS // 2
    kinds = ['inconsistent'] * half + ['consistent'] * half
    columns = [
        (f'{_fifth(n)}: {count:,}', [Bar(kinds[n], 0.0, count / tallest)])
        for n, count in enumerate(figures.bins)
        if tallest
    ]
    ends = {-1.0: 'start', 1.0: 'end'}
    return Chart(
        'Responses by score difference',
        _described((_fifth(n), count) for n, count in enumerate(figures.bins)),
        tallest,
        columns,
        [
            ((value + 1) / 2, _signed(value), ends.get(value, 'middle'))
            for value in (-1.0, -0.4, 0.0, 0.4, 1.0)
        ],
        True,
        [('inconsistent', 'lower'), ('consistent', 'higher')],
    )


def _described(counts: Iterable[tuple[str, int]]) -> str:
    return ', '.join(f'{span}: {count:,}' for span, count in counts)


def _kind(label: str) -> str:
    return label if label in _ORDER else 'other'


def _rank(label: str) -> int:
    return _ORDER.index(label) if label in _ORDER else len(_ORDER)


def _tenth(place: int) -> str:
    return f'{place / BINS:.1f} to {(place + 1) / BINS:.1f}'


def _fifth(place: int) -> str:
    half = DIFFERENCE_BINS // 2
    low, high = (place - half) / half, (place - half + 1) / half
    return f'{_signed(low)} to {_signed(high)}'


def _signed(value: float) -> str:
    return f'{value:+.1f}'.replace('-', '\u2212') if value else '0'
