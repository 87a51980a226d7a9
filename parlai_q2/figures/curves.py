"""Precision-recall and ROC curves of several scorers in one panel."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from parlai_q2.figures.style import COLOURS, GREY, LINES, MARKERS
from parlai_q2.sweep import Sweep

if TYPE_CHECKING:
    import numpy as np

Point = tuple[float, float]


@dataclass(frozen=True)
class Ranked:
    """
    Scores of annotated responses.

    :param name: whose they are.
    :param values: [N], higher for consistent responses.
    :param consistent: [N], whether people found each consistent; both classes occur.
    :param threshold: a value of at most this is called inconsistent; None for none.
    :param area: the number beside the name in the legend; None for none.
    """

    name: str
    values: 'np.ndarray'
    consistent: 'np.ndarray'
    threshold: float | None = None
    area: float | None = None


def _counts(
    values: 'np.ndarray', positive: 'np.ndarray'
) -> tuple['np.ndarray', 'np.ndarray']:
    """Positives and negatives among the highest values, at each distinct value: [K]."""
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
    axes: Any, curves: Sequence[Ranked], consistent: bool, title: str
) -> None:
    """
    Draw how precisely one class is found. Marks show the thresholds.

    :param consistent: whether the consistent responses are looked for, or the others.
    """
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


def draw_roc(axes: Any, curves: Sequence[Ranked], title: str) -> None:
    """Draw how many consistent responses are found, at the cost of others."""
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
    axes: Any,
    n: int,
    curve: Ranked,
    points: tuple[Any, Any],
    mark_at: Point | None,
    steps: str | None = None,
) -> None:
    line = {'color': COLOURS[n % len(COLOURS)], 'ls': LINES[n % len(LINES)]}
    mark = {'color': line['color'], 'marker': MARKERS[n % len(MARKERS)]}
    if steps:
        axes.step(*points, where=steps, **line)
    else:
        axes.plot(*points, **line)
    if mark_at is not None:
        axes.plot(*mark_at, ms=4.5, mec='white', **mark)
    name = curve.name if curve.area is None else f'{curve.name}  {curve.area:.2f}'
    axes.plot([], [], label=name, ms=4.5, mec='white', **{**line, **mark})


def _finish(axes: Any, title: str, xlabel: str, legend: str) -> None:
    axes.set(xlabel=xlabel, xlim=(-0.01, 1.01), ylim=(0, 1.02))
    axes.set_title(title)
    place = {'loc': 'upper center', 'bbox_to_anchor': (0.5, -0.17), 'ncols': 2}
    axes.legend(title=legend, **place)
