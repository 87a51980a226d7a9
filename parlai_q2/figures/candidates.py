"""
What more candidates give: wrong choices and the time of a turn, over the number of
candidates, a line for each strategy.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from parlai_q2.figures.style import COLOURS, LINES, MARKERS, new_figure, panels, save

HEIGHT = 2.4  # inches


def draw_candidates(rows: Sequence[Mapping[str, Any]], folder: Path) -> list[Path]:
    """
    Write the figure ``candidates`` as PNG and SVG.

    :param rows: as :class:`~parlai_q2.benchmark.candidates.CandidateBench` measures
        them.
    """
    strategies = list(dict.fromkeys(row['strategy'] for row in rows))
    numbers = sorted({row['candidates'] for row in rows})
    with new_figure(HEIGHT) as figure:
        wrong, time = panels(figure, 2)
        for n, strategy in enumerate(strategies):
            own = [row for row in rows if row['strategy'] == strategy]
            own.sort(key=lambda row: row['candidates'])
            asked = [row['candidates'] for row in own]
            style: dict[str, Any] = {
                'color': COLOURS[n],
                'linestyle': LINES[n],
                'marker': MARKERS[n],
                'markersize': 3,
                'label': strategy,
            }
            shares = [100 * row['wrong'] / row['turns'] for row in own]
            wrong.plot(asked, shares, **style)
            time.plot(asked, [row['find'] + row['choose'] for row in own], **style)
        for axes in (wrong, time):
            axes.set_xscale('log', base=2)
            axes.set_xticks(numbers, [str(number) for number in numbers])
            axes.set_xlabel('candidates asked for')
            axes.set_ylim(bottom=0)
        wrong.set_ylabel('% of turns with a wrong choice')
        time.set_ylabel('processor seconds a turn')
        wrong.legend()
        return save(figure, folder, 'candidates')
