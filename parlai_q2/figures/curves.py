"""
Draws how a scorer ranks and how it is calibrated: precision-recall and ROC curves of
several scorers in one panel, and reliability diagrams. Are 80 % of the responses with a
value of 0.8 consistent? (DeGroot and Fienberg 1983.) The expected calibration error is
the mean distance between value and share, over tenths of the values (Naeini et al.
2015).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from parlai_q2.figures.style import BLUE, GREY, line_style
from parlai_q2.intervals import share_interval
from parlai_q2.sweep import Sweep

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike


Point = tuple[float, float]


@dataclass(frozen=True)
class Ranked:
    """
    Scores of N annotated responses, higher for consistent ones; both classes occur. A
    value of at most ``threshold`` is called inconsistent; ``area`` is the number in the
    legend.
    """

    name: str
    values: 'np.ndarray'
    consistent: 'np.ndarray'
    threshold: float | None = None
    area: float | None = None


def _counts(
    values: 'np.ndarray', positive: 'np.ndarray'
) -> tuple['np.ndarray', 'np.ndarray']:
    """
    How many positives and negatives have at least each distinct value, from the highest
    down: [K] each.
    """
    import numpy as np

    hits, alarms = Sweep(values, positive).counts(np.ones((1, len(values))))
    return hits[0], alarms[0]


def precision_recall(
    values: 'np.ndarray', positive: 'np.ndarray'
) -> tuple['np.ndarray', 'np.ndarray']:
    """Recall and precision at each distinct value, the highest first: [K] each."""
    hits, alarms = _counts(values, positive)
    return hits / hits[-1], hits / (hits + alarms)


def roc(
    values: 'np.ndarray', positive: 'np.ndarray'
) -> tuple['np.ndarray', 'np.ndarray']:
    """The shares of negatives and of positives found, from (0, 0) to (1, 1)."""
    import numpy as np

    hits, alarms = _counts(values, positive)
    return np.r_[0, alarms / alarms[-1]], np.r_[0, hits / hits[-1]]


def draw_precision_recall(
    axes: 'Axes', curves: Sequence[Ranked], consistent: bool, title: str
) -> None:
    """Draw precision-recall curves of one of two classes; marks show the thresholds."""
    for n, curve in enumerate(curves):
        positive = curve.consistent if consistent else ~curve.consistent
        sign = 1 if consistent else -1
        recall, precision = precision_recall(sign * curve.values, positive)
        mark = _called(curve, consistent)
        point = None
        if mark is not None and mark.any():
            right = float((mark & positive).sum())
            point = right / positive.sum(), right / mark.sum()
        start = precision[:1]
        points = [0, *recall], [*start, *precision]
        _draw_curve(axes, n, curve, points, point, steps='pre')
    _finish(axes, title, 'Recall', 'average precision')


def draw_roc(axes: 'Axes', curves: Sequence[Ranked], title: str) -> None:
    """Draw ROC curves of consistent responses; marks show the thresholds."""
    for n, curve in enumerate(curves):
        alarms, hits = roc(curve.values, curve.consistent)
        called, point = _called(curve, True), None
        if called is not None:
            point = (
                float(called[~curve.consistent].mean()),
                float(called[curve.consistent].mean()),
            )
        _draw_curve(axes, n, curve, (alarms, hits), point)
    axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.8)
    _finish(axes, title, 'Inconsistent responses called consistent', 'area')


def _called(curve: Ranked, consistent: bool) -> 'np.ndarray | None':
    if curve.threshold is None:
        return None
    above = curve.values > curve.threshold
    return above if consistent else ~above


def _draw_curve(
    axes: 'Axes',
    n: int,
    curve: Ranked,
    points: tuple['ArrayLike', 'ArrayLike'],
    mark_at: Point | None,
    steps: Literal['pre'] | None = None,
) -> None:
    name = curve.name if curve.area is None else f'{curve.name}  {curve.area:.2f}'
    style = {**line_style(n, 4.5), 'mec': 'white'}
    line = {'color': style['color'], 'ls': style['linestyle']}
    if steps:
        axes.step(*points, where=steps, **line)
    else:
        axes.plot(*points, **line)
    if mark_at is not None:
        axes.plot(*mark_at, **{**style, 'linestyle': '-'})
    axes.plot([], [], label=name, **style)


def _finish(axes: 'Axes', title: str, xlabel: str, legend: str) -> None:
    axes.set(xlabel=xlabel, xlim=(-0.01, 1.01), ylim=(0, 1.02))
    axes.set_title(title)
    axes.legend(title=legend, loc='upper center', bbox_to_anchor=(0.5, -0.17), ncols=2)


BINS = 10


class Bin(NamedTuple):
    """
    The responses of one tenth of the values: their mean value, and the share that
    people found consistent with its 95 % interval (Wilson 1927).
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


def draw_reliability(axes: 'Axes', curve: Ranked) -> None:
    """
    Draw the share of consistent responses by the value, and bars for their number.
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
