"""What a record costs, against how many there are."""

from collections.abc import Mapping, Sequence
from typing import Any

from parlai_q2.figures.style import COLOURS, LINES, MARKERS


def draw_costs(axes: Any, costs: Mapping[str, Sequence[tuple[int, float]]]) -> None:
    """
    Draw a line for each way to work.

    :param costs: of each, by its name, pairs of a number of records and what each of
        them cost, in milliseconds.
    """
    for n, (name, points) in enumerate(costs.items()):
        axes.plot(
            *zip(*points),
            color=COLOURS[n % len(COLOURS)],
            linestyle=LINES[n % len(LINES)],
            marker=MARKERS[n % len(MARKERS)],
            markersize=4,
            label=name,
        )
    axes.set_xscale('log')
    axes.set_ylim(bottom=0)
    axes.set_xlabel('Records')
    axes.set_ylabel('Milliseconds a record')
    axes.legend()
