"""
Draws how scores are spread: histograms by class (Honovich et al. 2021, Figures 4 to 6)
and of density (Dziri et al. 2022, Figure 2); box plots and points with their intervals
by group and class (Figures 7 to 9).
"""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from parlai_q2.figures.style import BLACK, CLASS_COLOURS
from parlai_q2.intervals import Interval

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes


BINS = 20


def draw_classes(
    axes: 'Axes', by_class: Mapping[str, 'np.ndarray'], title: str
) -> None:
    """Draw how scores are spread, as shares of their class."""
    import numpy as np

    low = min(float(values.min()) for values in by_class.values() if len(values))
    high = max(float(values.max()) for values in by_class.values() if len(values))
    if low >= 0 and high <= 1:
        low, high = 0.0, 1.0
    edges = np.linspace(low, high if high > low else low + 1, BINS + 1)
    _steps(axes, by_class, edges)
    axes.set_title(title)
    axes.set_xlim(edges[0], edges[-1])


# Densities on the axis, which is that of log2(1 + density).
DENSITY_TICKS = (0, 1, 3, 7, 15, 31)


def draw_densities(
    axes: 'Axes',
    by_class: Mapping[str, Sequence[float]],
    cuts: Sequence[float],
    title: str,
) -> None:
    """Draw the densities of each class, on an axis stretched where most lie."""
    import numpy as np

    edges = np.linspace(0, math.log2(1 + DENSITY_TICKS[-1]) + 1, BINS + 1)
    _steps(axes, {c: np.log2(1 + np.array(v)) for c, v in by_class.items()}, edges)
    for cut in cuts:
        axes.axvline(math.log2(1 + cut), color=BLACK, linewidth=0.7, linestyle=':')
    axes.set_xticks(
        [math.log2(1 + v) for v in DENSITY_TICKS], [str(v) for v in DENSITY_TICKS]
    )
    axes.tick_params(labelbottom=True)
    axes.set_title(title)
    axes.set_xlim(edges[0], edges[-1])


def _steps(
    axes: 'Axes', by_class: Mapping[str, 'np.ndarray'], edges: 'np.ndarray'
) -> None:
    """Outlines over light areas; what lies beyond the last edge is in the last bin."""
    import numpy as np

    for name, values in by_class.items():
        if len(values):
            share = np.full(len(values), 1 / len(values))
            colour = CLASS_COLOURS[name]
            clipped, bins = np.minimum(values, edges[-1]), edges.tolist()
            looks: tuple[dict[str, Any], ...] = (
                {'histtype': 'stepfilled', 'color': colour + '30'},
                {'histtype': 'step', 'color': colour, 'linewidth': 1.1},
            )
            for look in looks:
                axes.hist(clipped, bins, weights=share, **look)


BETWEEN = 0.27  # the classes of one group


def draw_box(axes: 'Axes', values: 'np.ndarray', place: float, colour: str) -> None:
    """Draw a box: quartiles, the 5th and 95th percentile, median and (dot) mean."""
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
    axes: 'Axes',
    groups: Sequence[str],
    points: Mapping[tuple[str, str], Interval],
    title: str,
) -> None:
    """Draw a point with its interval, in [0, 1], for each group and class."""
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
