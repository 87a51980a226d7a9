"""A map of numbers with their intervals: one cell for each row and column."""

from collections.abc import Mapping, Sequence
from typing import Any

from parlai_q2.figures.style import BLACK
from parlai_q2.intervals import Interval

COLOURS = 'Blues'
# Above this share of the scale, a cell is too dark for black text.
DARK = 0.6


def draw_heat(
    axes: Any,
    rows: Sequence[str],
    columns: Sequence[str],
    cells: Mapping[tuple[str, str], Interval | None],
    title: str,
    decimals: int = 2,
    top: float = 1.0,
) -> None:
    """
    Draw a map; each cell has its number and, smaller, its interval.

    :param cells: by row and column; one that is missing or None stays white.
    :param decimals: of the numbers.
    :param top: the number of the darkest colour; white is 0.
    """
    import numpy as np

    values = np.full((len(rows), len(columns)), np.nan)
    for y, row in enumerate(rows):
        for x, column in enumerate(columns):
            interval = cells.get((row, column))
            if interval is not None:
                values[y, x] = interval.mean
                colour = 'white' if interval.mean > DARK * top else BLACK
                place = {'ha': 'center', 'color': colour}
                axes.text(
                    x, y - 0.03, f'{interval.mean:.{decimals}f}', va='bottom', **place
                )
                low, high = (f'{v:.{decimals}f}' for v in (interval.low, interval.high))
                axes.text(x, y + 0.05, f'{low}–{high}', va='top', fontsize=5, **place)
    axes.imshow(values, cmap=COLOURS, vmin=0, vmax=top, aspect='auto')
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(rows)), rows)
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.set_title(title)
