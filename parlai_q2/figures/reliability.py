"""
Reliability diagrams: is a value of 0.8 right 80 % of the time? (DeGroot and Fienberg
1983.) The expected calibration error is the mean distance between the two, over tenths
of the values (Naeini et al. 2015).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from parlai_q2.figures.curves import Ranked
from parlai_q2.figures.style import BLUE, GREY
from parlai_q2.intervals import share_interval

if TYPE_CHECKING:
    import numpy as np

BINS = 10


class Bin(NamedTuple):
    """
    The responses of one tenth of the values.

    :param value: their mean value.
    :param share: the share of them that people found consistent.
    :param low: the lower end of the share's 95 % interval (Wilson 1927), and ``high``
        the upper.
    """

    size: int
    value: float
    share: float
    low: float
    high: float


def bins(values: 'np.ndarray', consistent: 'np.ndarray') -> list[Bin]:
    """The tenths of [0, 1] that have values, in order; 1 belongs to the last."""
    import numpy as np

    places = np.clip((values * BINS).astype(int), 0, BINS - 1)
    tenths = []
    for place in range(BINS):
        inside = places == place
        if inside.any():
            right = int(consistent[inside].sum())
            count = int(inside.sum())
            mean = float(values[inside].mean())
            tenths.append(Bin(count, mean, *share_interval(right, count)))
    return tenths


def calibration_error(tenths: Sequence[Bin]) -> float | None:
    """The expected calibration error, in [0, 1]; None without responses."""
    total = sum(tenth.size for tenth in tenths)
    if not total:
        return None
    return sum(tenth.size * abs(tenth.value - tenth.share) for tenth in tenths) / total


def draw_reliability(axes: Any, curve: Ranked) -> None:
    """
    Draw the share of consistent responses against the value, with its interval; below,
    how many responses each tenth has. On the grey line, values are probabilities.
    """
    tenths = bins(curve.values, curve.consistent)
    axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.8)
    most = max(b.size for b in tenths)
    for b in tenths:
        axes.bar(
            b.value, 0.12 * b.size / most, width=0.05, color=BLUE + '30', linewidth=0
        )
    below = [b.share - b.low for b in tenths]
    above = [b.high - b.share for b in tenths]
    axes.errorbar(
        [b.value for b in tenths],
        [b.share for b in tenths],
        yerr=[below, above],
        color=BLUE,
        marker='o',
        ms=3,
        linewidth=1,
        elinewidth=0.7,
    )
    error = calibration_error(tenths)
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    axes.set_title(f'{curve.name}  (error {error:.3f})')
