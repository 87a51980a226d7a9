"""
Draws how scores are distributed by class, by extractiveness and by corpus (Dziri et al.
2022, section 4.4).
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Mapping, Sequence

from parlai_q2.evaluate.evaluation import Evaluation
from parlai_q2.evaluate.figures import (
    BLACK,
    CLASS_COLOURS,
    TEXT,
    drawing,
    grid,
    save,
)
from parlai_q2.evaluate.measures import Measure
from parlai_q2.evaluate.sets import CLASSES, AnnotatedResponse

if TYPE_CHECKING:
    import numpy as np

BINS = 20


def class_figure(evaluation: Evaluation, path: Path) -> list[Path]:
    """
    Draw one panel for each scorer: a histogram of each class's scores in twenty bins,
    and the fixed threshold.
    """
    import numpy as np

    classes, measures = _classes(evaluation), _measures(evaluation)
    rows, columns = grid(len(measures))
    with drawing() as figure_of:
        figure = figure_of(figsize=(TEXT, 0.45 + 1.45 * rows))
        panels = _panels(figure, rows, columns, len(measures), True)
        for axes, measure in zip(panels, measures):
            low, high = _range(evaluation, measure)
            bins = bin_edges(low, high)
            for label in classes:
                values = measure.values(
                    measure.known(evaluation.annotated.of_classes([label]))
                )
                weights = np.full(len(values), 1 / max(len(values), 1))
                shared = {'bins': bins, 'weights': weights, 'label': label}
                colour = CLASS_COLOURS[label]
                axes.hist(values, color=colour, alpha=0.25, **shared)
                axes.hist(values, color=colour, histtype='step', **shared)
            if measure.threshold is not None:
                axes.axvline(
                    measure.threshold, color=BLACK, linewidth=0.7, linestyle=':'
                )
            axes.set_title(measure.name)
            axes.set_xlim(low, high)
            if measure.threshold is not None:
                axes.set_xticks((0, 0.5, 1), ('0', '0.5', '1'))
        figure.supylabel('Share of the class', fontsize=8)
        figure.supxlabel('Score (dotted: threshold)', fontsize=8)
        _legend(figure, evaluation.annotated.of_classes(classes))
        return save(figure, path)


def group_figure(
    evaluation: Evaluation,
    groups: Mapping[str, Sequence[AnnotatedResponse]],
    by: str,
    path: Path,
) -> list[Path]:
    """
    Draw one panel for each scorer: box plots of the score by group and class.

    Boxes span the quartiles, whiskers the 5th to the 95th percentile; the line is the
    median, the dot the mean. The number of responses is below each group's name.

    :param groups: responses by the group's name, in order.
    :param by: what the groups are, for the axis label.
    """
    classes, measures = _classes(evaluation), _measures(evaluation)
    rows, columns = grid(len(measures))
    with drawing() as figure_of:
        figure = figure_of(figsize=(TEXT, 0.45 + 1.55 * rows))
        panels = _panels(figure, rows, columns, len(measures), _bounded(evaluation))
        for axes, measure in zip(panels, measures):
            for c, label in enumerate(classes):
                places, boxes = [], []
                for g, responses in enumerate(groups.values()):
                    known = measure.known([r for r in responses if r.label == label])
                    if known:
                        places.append(g + (c - (len(classes) - 1) / 2) * 0.27)
                        boxes.append(measure.values(known))
                if boxes:
                    _boxes(axes, boxes, places, CLASS_COLOURS[label])
            axes.set_title(measure.name)
            axes.set_xlim(-0.55, len(groups) - 0.45)
            axes.set_xticks(range(len(groups)), _counted(groups))
            if _bounded(evaluation):
                axes.set_ylim(-0.03, 1.03)
        figure.supylabel('Score', fontsize=8)
        figure.supxlabel(f'{by.capitalize()}, and how many responses', fontsize=8)
        _legend(figure, [r for group in groups.values() for r in group])
        return save(figure, path)


def bin_edges(low: float, high: float) -> 'np.ndarray':
    """
    Edges of the bins. A score equal to an edge belongs to the bin below it, just as a
    score equal to the threshold is inconsistent. Since numpy's bins include their lower
    edge, all edges but the first are moved up by the least possible amount.

    :return: :data:`BINS` + 1 numbers, in ascending order.
    """
    import numpy as np

    edges = np.nextafter(np.linspace(low, high, BINS + 1), np.inf)
    edges[0] = low
    return edges


def _boxes(axes: Any, values: list, places: list[float], colour: str) -> None:
    axes.boxplot(
        values,
        positions=places,
        widths=0.21,
        whis=(5, 95),
        showfliers=False,
        showmeans=True,
        patch_artist=True,
        manage_ticks=False,
        boxprops={'facecolor': colour + '50', 'edgecolor': colour, 'linewidth': 0.8},
        whiskerprops={'color': colour, 'linewidth': 0.8},
        capprops={'color': colour, 'linewidth': 0.8},
        medianprops={'color': colour, 'linewidth': 1.4},
        meanprops={
            'marker': 'o',
            'markersize': 2.6,
            'markerfacecolor': BLACK,
            'markeredgecolor': BLACK,
        },
    )


def _panels(figure: Any, rows: int, columns: int, used: int, sharey: bool) -> list[Any]:
    panels = list(figure.subplots(rows, columns, sharey=sharey, squeeze=False).flat)
    for axes in panels[used:]:
        figure.delaxes(axes)
    return panels[:used]


def _counted(groups: Mapping[str, Sequence[AnnotatedResponse]]) -> list[str]:
    return [
        f'{name}\n{sum(r.label in CLASSES for r in responses):,}'
        for name, responses in groups.items()
    ]


def _legend(figure: Any, responses: Sequence[AnnotatedResponse]) -> None:
    from matplotlib.patches import Patch

    counts = {c: sum(r.label == c for r in responses) for c in CLASSES}
    handles = [
        Patch(
            facecolor=CLASS_COLOURS[c] + '40',
            edgecolor=CLASS_COLOURS[c],
            label=f'{c} (n = {count:,})',
        )
        for c, count in counts.items()
        if count
    ]
    figure.legend(handles=handles, loc='outside upper center', ncols=len(handles))


def _classes(evaluation: Evaluation) -> list[str]:
    return [c for c in CLASSES if evaluation.annotated.of_classes([c])]


def _bounded(evaluation: Evaluation) -> bool:
    return all(m.threshold is not None for m in evaluation.measures)


def _range(evaluation: Evaluation, measure: Measure) -> tuple[float, float]:
    if measure.threshold is not None:
        return 0.0, 1.0
    values = measure.values(measure.known(evaluation.annotated.of_classes(CLASSES)))
    low, high = float(values.min()), float(values.max())
    return (low, high) if low < high else (low - 0.5, high + 0.5)


def _measures(evaluation: Evaluation) -> list[Measure]:
    """The measures that have scored at least one response with a class."""
    annotated = evaluation.annotated.of_classes(CLASSES)
    return [m for m in evaluation.measures if m.known(annotated)]
