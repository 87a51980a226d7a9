"""What the report's bar charts show; ``pages/macros.html`` draws them."""

from typing import Iterable, NamedTuple

from parlai_q2.records import Label
from parlai_q2.report.changes import BINS as DIFFERENCE_BINS
from parlai_q2.report.figures import BINS, Figures, TwoRunFigures

# From bottom to top; labels of other scorers come last, in grey.
_ORDER = (
    Label.CONSISTENT,
    Label.GENERIC,
    Label.NOT_VERIFIABLE,
    Label.INCONSISTENT,
)


class Bar(NamedTuple):
    """
    A bar, or a part of one.

    :param kind: its CSS class, which gives it its colour.
    :param bottom: its lower end, as a share of the plot's height.
    :param height: its height, as a share of the plot's height.
    """

    kind: str
    bottom: float
    height: float


class Chart(NamedTuple):
    """
    A bar chart whose columns can be clicked.

    :param title: its title.
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
    """
    The scores in tenths, with each bar divided by label.

    :param figures: the figures of a report, of at least one score.
    """
    tallest = max(sum(counts.values()) for counts in figures.bins)
    columns = []
    for place, counts in enumerate(figures.bins):
        bars, below = [], 0
        labels = sorted(counts, key=_rank)
        for label in labels:
            share = counts[label] / tallest
            bars.append(Bar(_kind(label), below / tallest, share))
            below += counts[label]
        words = ', '.join(f'{counts[n]:,} {n.replace("_", " ")}' for n in labels)
        title = f'score {_tenth(place)}: {below:,}' + (f' ({words})' if words else '')
        columns.append((title, bars))
    counted = (sum(counts.values()) for counts in figures.bins)
    return Chart(
        'Responses by score',
        _described((_tenth(n), count) for n, count in enumerate(counted)),
        tallest,
        columns,
        [
            (n / BINS, f'{n / BINS:.1f}', 'end' if n == BINS else 'middle')
            for n in range(0, BINS + 1, 2)
        ],
        False,
        [
            (_kind(label), label.replace('_', ' '))
            for label in sorted(figures.labels, key=_rank)
        ],
    )


def difference_chart(figures: TwoRunFigures) -> Chart:
    """
    The differences between two runs below 0 and above 0.

    :return: the chart; its ``tallest`` is 0 if no score differs.
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
