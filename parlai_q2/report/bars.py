"""
Draws what the report's bar charts share, in SVG that needs no script: the frame, the
axis of counts, and the columns that can be clicked.
"""

from html import escape
from typing import Iterable

WIDTH, HEIGHT = 520, 180
LEFT, TOP, BOTTOM = 44, 12, 22
PLOT_WIDTH, PLOT_HEIGHT = WIDTH - LEFT, HEIGHT - TOP - BOTTOM


def draw_chart(title: str, described: str, lines: Iterable[str]) -> str:
    """
    Draw a chart as an ``svg`` element.

    :param title: the chart's title.
    :param described: a description of what it shows.
    :param lines: the elements inside.
    """
    return '\n'.join(
        [
            f'<svg class="histogram" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
            'aria-labelledby="histogram-title" aria-describedby="histogram-text">',
            f'<title id="histogram-title">{escape(title)}</title>',
            f'<desc id="histogram-text">{escape(described)}</desc>',
            *lines,
            '</svg>',
        ]
    )


def base_line() -> str:
    """
    The line that the bars stand on.
    """
    base = TOP + PLOT_HEIGHT
    return f'<line class="axis" x1="{LEFT}" y1="{base}" x2="{WIDTH}" y2="{base}"/>'


def count_axis(tallest: int) -> list[str]:
    """
    Lines for the tallest bar and for half of it, with their counts.
    """
    lines = []
    for count in sorted({tallest, tallest // 2} - {0}):
        y = TOP + PLOT_HEIGHT * (1 - count / tallest)
        lines.append(
            f'<line class="grid" x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH}" y2="{y:.1f}"/>'
            f'<text class="tick" x="{LEFT - 6}" y="{y + 4:.1f}" '
            f'text-anchor="end">{count:,}</text>'
        )
    return lines


def tick(share: float, text: str, anchor: str = 'middle') -> str:
    """
    A number below the base line.

    :param share: its position, from 0 at the left to 1 at the right.
    :param text: the number.
    :param anchor: its ``text-anchor``.
    """
    x = LEFT + share * PLOT_WIDTH
    return (
        f'<text class="tick" x="{x:.1f}" y="{HEIGHT - 6}" '
        f'text-anchor="{anchor}">{text}</text>'
    )


class Column:
    """
    One of a chart's columns, which have a small gap between them.

    :param place: its index, from 0.
    :param columns: the number of columns.
    """

    def __init__(self, place: int, columns: int):
        self.place = place
        self.left = LEFT + place * PLOT_WIDTH / columns + 2
        self.width = PLOT_WIDTH / columns - 4

    def bar(self, kind: str, bottom: float, height: float) -> str:
        """
        A bar, or a part of one.

        :param kind: its CSS class, which gives it its colour.
        :param bottom: its lower end above the base line, as a share of the plot's
            height.
        :param height: its height, as a share of the plot's height.
        """
        top = TOP + PLOT_HEIGHT * (1 - bottom - height)
        return (
            f'<rect class="bar {kind}" x="{self.left:.1f}" y="{top:.1f}" '
            f'width="{self.width:.1f}" height="{PLOT_HEIGHT * height:.1f}"/>'
        )

    def draw(self, title: str, bars: Iterable[str]) -> str:
        """
        The bars and the area that takes clicks: the whole column, including the part
        above the bars.

        :param title: the tooltip.
        :param bars: the column's bars.
        """
        area = (
            f'<rect class="column" data-bin="{self.place}" x="{self.left:.1f}" '
            f'y="{TOP}" width="{self.width:.1f}" height="{PLOT_HEIGHT}"/>'
        )
        return f'<g><title>{escape(title)}</title>{"".join(bars)}{area}</g>'
