"""
Histograms of scores by class (Honovich et al. 2021, Figures 4 to 6), of density (Dziri
et al. 2022, Figure 2), and of how much more the chosen candidate scores than the first.
"""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from parlai_q2.figures.style import BLACK, BLUE, CLASS_COLOURS, VERMILION

if TYPE_CHECKING:
    import numpy as np

BINS = 20


def draw_classes(axes: Any, by_class: Mapping[str, 'np.ndarray'], title: str) -> None:
    """
    Draw how the scores of each class are spread, as shares of the class: outlines over
    light areas, so that both can be seen where they overlap.

    :param by_class: the scores of each class, at least one score in all.
    """
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
    axes: Any,
    by_class: Mapping[str, Sequence[float]],
    cuts: Sequence[float],
    title: str,
) -> None:
    """
    Draw how dense the responses of each class are, as shares of the class, on an axis
    that is stretched where most of them lie.

    :param by_class: the densities of each class, at least 0.
    :param cuts: densities that are marked.
    """
    import numpy as np

    edges = np.linspace(0, math.log2(1 + DENSITY_TICKS[-1]) + 1, BINS + 1)
    _steps(axes, {c: np.log2(1 + np.array(v)) for c, v in by_class.items()}, edges)
    for cut in cuts:
        axes.axvline(math.log2(1 + cut), color=BLACK, linewidth=0.7, linestyle=':')
    axes.set_xticks([math.log2(1 + v) for v in DENSITY_TICKS], DENSITY_TICKS)
    axes.tick_params(labelbottom=True)
    axes.set_title(title)
    axes.set_xlim(edges[0], edges[-1])


def _steps(
    axes: Any, by_class: Mapping[str, 'np.ndarray'], edges: 'np.ndarray'
) -> None:
    """Outlines over light areas; what lies beyond the last edge is in the last bin."""
    import numpy as np

    for name, values in by_class.items():
        if len(values):
            share = np.full(len(values), 1 / len(values))
            colour = CLASS_COLOURS[name]
            shape = {'bins': edges, 'weights': share}
            clipped = np.minimum(values, edges[-1])
            axes.hist(clipped, histtype='stepfilled', color=colour + '30', **shape)
            axes.hist(clipped, histtype='step', color=colour, linewidth=1.1, **shape)


def draw_differences(axes: Any, differences: Sequence[float], title: str) -> None:
    """
    Draw how much more the chosen candidate scores than the first; pools in which the
    first is chosen are counted in words, since their bar would dwarf the others.

    :param differences: one for each pool, at least one; at least 0 where the highest
        score is chosen.
    """
    import numpy as np

    values = np.asarray(differences, dtype=float)
    moved = values[values != 0]
    same = len(values) - len(moved)
    top = max(1.0, float(np.abs(values).max()))
    edges = np.linspace(-top if (moved < 0).any() else 0.0, top, BINS + 1)
    axes.hist(moved[moved > 0], bins=edges, color=BLUE)
    axes.hist(moved[moved < 0], bins=edges, color=VERMILION)
    axes.axvline(float(values.mean()), color=BLACK, linewidth=0.8, linestyle=':')
    caption = f'same score: {same:,} of {len(values):,}, mean {values.mean():+.3f}'
    axes.set_title(f'{title}\n{caption}')
    axes.set_xlim(edges[0], edges[-1])
    axes.yaxis.get_major_locator().set_params(integer=True)
