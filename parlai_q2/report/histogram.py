"""
Draws the scores of a report as a histogram.
"""

from html import escape

from parlai_q2.records import Label
from parlai_q2.report.bars import Column, base_line, count_axis, draw_chart, tick
from parlai_q2.report.figures import BINS, Figures

# From bottom to top; labels of other scorers come last, in grey.
_ORDER = (
    Label.CONSISTENT,
    Label.GENERIC,
    Label.NOT_VERIFIABLE,
    Label.INCONSISTENT,
)


def draw_histogram(figures: Figures) -> str:
    """
    Draw the histogram of the scores in tenths, with each bar divided by label.

    :param figures: the figures of a report.
    :return: an ``svg`` element; an empty string if there are no scores.
    """
    tallest = max(sum(counts.values()) for counts in figures.bins)
    if not tallest:
        return ''
    described = ', '.join(
        f'{_span(place)}: {sum(counts.values()):,}'
        for place, counts in enumerate(figures.bins)
    )
    return draw_chart(
        'Responses by score',
        described,
        [
            *count_axis(tallest),
            *(_bar(place, n, tallest) for place, n in enumerate(figures.bins)),
            base_line(),
            *_score_axis(),
        ],
    )


def histogram_key(figures: Figures) -> str:
    """
    The key of the histogram: its labels with their colours, from the bottom up.
    """
    return ' '.join(
        f'<span class="key {_kind(label)}">{escape(label.replace("_", " "))}</span>'
        for label in sorted(figures.labels, key=_rank)
    )


def _kind(label: str) -> str:
    return label if label in _ORDER else 'other'


def _span(place: int) -> str:
    return f'{place / BINS:.1f} to {(place + 1) / BINS:.1f}'


def _bar(place: int, counts: dict[str, int], tallest: int) -> str:
    column, bars, below = Column(place, BINS), [], 0
    labels = sorted(counts, key=_rank)
    for label in labels:
        bars.append(column.bar(_kind(label), below / tallest, counts[label] / tallest))
        below += counts[label]
    words = ', '.join(f'{counts[n]:,} {n.replace("_", " ")}' for n in labels)
    title = f'score {_span(place)}: {below:,}' + (f' ({words})' if words else '')
    return column.draw(title, bars)


def _rank(label: str) -> int:
    return _ORDER.index(label) if label in _ORDER else len(_ORDER)


def _score_axis() -> list[str]:
    return [
        tick(place / BINS, f'{place / BINS:.1f}', 'end' if place == BINS else 'middle')
        for place in range(0, BINS + 1, 2)
    ]
