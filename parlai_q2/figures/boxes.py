"""
Box plots of scores, and points with their intervals, by group and class (Dziri et al.
2022, Figures 7 to 9).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from parlai_q2.figures.style import BLACK, CLASS_COLOURS
from parlai_q2.intervals import Interval

BETWEEN = 0.27  # the classes of one group


def draw_box(axes: Any, values: Any, place: float, colour: str) -> None:
    """
    Draw one box: it spans the quartiles, its whiskers the 5th to the 95th percentile;
    the line is the median, the dot the mean.
    """
    line = {'color': colour, 'linewidth': 0.8}
    dot = {'marker': 'o', 'markersize': 2.6, 'mfc': BLACK, 'mec': BLACK}
    axes.boxplot(
        [values],
        positions=[place],
        widths=0.21,
        whis=(5, 95),
        showfliers=False,
        showmeans=True,
        patch_artist=True,
        manage_ticks=False,
        boxprops={'facecolor': colour + '50', 'edgecolor': colour, 'linewidth': 0.8},
        whiskerprops=line,
        capprops=line,
        medianprops={'color': colour, 'linewidth': 1.4},
        meanprops=dot,
    )


def draw_points(
    axes: Any,
    groups: Sequence[str],
    points: Mapping[tuple[str, str], Interval],
    title: str,
) -> None:
    """
    Draw a point with its interval for each group and class.

    :param points: by group and class, in [0, 1]; some may be missing.
    """
    # The same order in all panels, whatever is missing.
    labels = {label for _, label in points}
    classes = [label for label in CLASS_COLOURS if label in labels]
    for (group, label), interval in points.items():
        between = classes.index(label) - (len(classes) - 1) / 2
        axes.errorbar(
            [groups.index(group) + between * BETWEEN],
            [interval.mean],
            yerr=[[interval.mean - interval.low], [interval.high - interval.mean]],
            color=CLASS_COLOURS[label],
            marker='o',
            ms=3.5,
            elinewidth=1,
        )
    axes.set(title=title, xlim=(-0.55, len(groups) - 0.45), ylim=(-0.03, 1.03))
    axes.set_xticks(range(len(groups)), groups)
    axes.tick_params(labelbottom=True)
