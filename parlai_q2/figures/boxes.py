"""Box plots of scores by group and class (Dziri et al. 2022, Figures 7 to 9)."""

from typing import Any

from parlai_q2.figures.style import BLACK

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
