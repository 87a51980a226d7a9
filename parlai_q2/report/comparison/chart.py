"""
Draws a histogram of how far scores moved from one run to another.
"""

from parlai_q2.report.bars import (
    LEFT,
    PLOT_HEIGHT,
    PLOT_WIDTH,
    TOP,
    Column,
    base_line,
    count_axis,
    draw_chart,
    tick,
)
from parlai_q2.report.comparison.change import BINS
from parlai_q2.report.comparison.figures import TwoRunFigures


def draw_differences(figures: TwoRunFigures) -> str:
    """
    Draw the histogram of the differences below 0 and above 0.

    :param figures: the figures of two runs.
    :return: an ``svg`` element; an empty string if no score differs.
    """
    tallest = max(figures.bins)
    if not tallest:
        return ''
    described = ', '.join(
        f'{_span(place)}: {count:,}' for place, count in enumerate(figures.bins)
    )
    return draw_chart(
        'Responses by score difference',
        described,
        [
            *count_axis(tallest),
            *(_bar(place, n, tallest) for place, n in enumerate(figures.bins)),
            base_line(),
            _middle_line(),
            *_difference_axis(),
        ],
    )


def _edges(place: int) -> tuple[float, float]:
    half = BINS // 2
    return (place - half) / half, (place - half + 1) / half


def _span(place: int) -> str:
    low, high = _edges(place)
    return f'{_signed(low)} to {_signed(high)}'


def _signed(value: float) -> str:
    return f'{value:+.1f}'.replace('-', '\u2212') if value else '0'


def _bar(place: int, count: int, tallest: int) -> str:
    column = Column(place, BINS)
    kind = 'consistent' if place >= BINS // 2 else 'inconsistent'
    bar = column.bar(kind, 0, count / tallest)
    return column.draw(f'{_span(place)}: {count:,}', [bar])


def _middle_line() -> str:
    x, base = LEFT + PLOT_WIDTH / 2, TOP + PLOT_HEIGHT
    return f'<line class="axis" x1="{x}" y1="{TOP}" x2="{x}" y2="{base}"/>'


def _difference_axis() -> list[str]:
    ends = {-1.0: 'start', 1.0: 'end'}
    return [
        tick((value + 1) / 2, _signed(value), ends.get(value, 'middle'))
        for value in (-1.0, -0.4, 0.0, 0.4, 1.0)
    ]
