"""
Precision-recall and ROC curves (Honovich et al. 2021, section 5.1 and appendix).
"""

from itertools import cycle
from pathlib import Path
from typing import Any, Iterator

from parlai_q2.evaluate.evaluation import Evaluation
from parlai_q2.evaluate.figures.style import (
    COLOURS,
    COLUMN,
    GREY,
    LINES,
    MARKERS,
    TEXT,
    drawing,
    save,
)
from parlai_q2.evaluate.measure import Measure
from parlai_q2.evaluate.ranking import Curves, Sweep
from parlai_q2.evaluate.response_level import ResponseLevel
from parlai_q2.records import Label


def curves_of(evaluation: Evaluation, measure: Measure, label: str) -> Curves:
    """
    The curves of one measure for finding one of the two classes.
    """
    import numpy as np

    known = measure.known(evaluation.judged.of_classes())
    scores = measure.values(known)
    sign = 1 if label == Label.CONSISTENT else -1
    return Sweep(sign * scores, np.array([r.label == label for r in known])).curves()


def levels(evaluation: Evaluation) -> Iterator[tuple[Measure, ResponseLevel]]:
    """
    The measures that can be ranked: those that scored both classes.
    """
    judged = evaluation.judged.of_classes()
    for measure in evaluation.measures:
        level = evaluation.level(measure, judged)
        if level.figures['roc_auc'] is not None:
            yield measure, level


def precision_recall_figure(evaluation: Evaluation, path: Path) -> list[Path]:
    """
    Draw precision against recall in two panels: for finding inconsistent responses and
    for finding consistent ones. A mark shows each scorer's fixed threshold; the grey
    line is chance.
    """
    found = list(levels(evaluation))
    with drawing() as figure_of:
        figure = figure_of(figsize=(TEXT, 2.9 + 0.15 * -(-len(found) // 2)))
        panels = figure.subplots(1, 2, sharey=True)
        for axes, label in zip(panels, (Label.INCONSISTENT, Label.CONSISTENT)):
            judged = evaluation.judged.of_classes()
            count = sum(r.label == label for r in judged)
            axes.axhline(count / len(judged), color=GREY, linewidth=0.8)
            for (measure, level), look in zip(found, _looks()):
                curves = curves_of(evaluation, measure, label)
                axes.step(
                    [0, *curves.recall],
                    [curves.precision[0], *curves.precision],
                    where='pre',
                    **look['line'],
                )
                at = level.figures[f'{label}_precision']
                recall = level.figures[f'{label}_recall']
                if at is not None and recall is not None:
                    axes.plot(recall.mean, at.mean, **look['mark'])
                ap = level.figures[f'{label}_ap']
                name = f'{measure.name}  {ap.mean:.2f}' if ap else measure.name
                axes.plot([], [], label=name, **{**look['line'], **look['mark']})
            axes.set_title(f'Finding {label} responses ({count:,} of {len(judged):,})')
            axes.set_xlabel('Recall')
            axes.set_xlim(-0.01, 1.01)
            axes.set_ylim(0, 1.02)
            axes.legend(
                title='average precision',
                loc='upper center',
                bbox_to_anchor=(0.5, -0.17),
                ncols=2,
            )
        panels[0].set_ylabel('Precision')
        return save(figure, path)


def roc_figure(evaluation: Evaluation, path: Path) -> list[Path]:
    """
    Draw the ROC curves for finding consistent responses, in one panel.
    """
    with drawing() as figure_of:
        figure = figure_of(figsize=(COLUMN, 3.2))
        axes = figure.subplots()
        axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.8)
        for (measure, level), look in zip(levels(evaluation), _looks()):
            curves = curves_of(evaluation, measure, Label.CONSISTENT)
            auc = level.figures['roc_auc']
            assert auc is not None
            axes.plot(
                [0, *curves.fallout],
                [0, *curves.recall],
                label=f'{measure.name}  {auc.mean:.2f} [{auc.low:.2f}, {auc.high:.2f}]',
                **look['line'],
            )
        axes.set_xlabel('Inconsistent responses taken for consistent')
        axes.set_ylabel('Consistent responses found')
        axes.set_xlim(-0.01, 1.01)
        axes.set_ylim(0, 1.02)
        axes.set_aspect('equal')
        count = len(evaluation.judged.of_classes())
        title = f'AUC [95 %], n = {count:,}'
        axes.legend(title=title, alignment='left', loc='lower right')
        return save(figure, path)


def _looks() -> Iterator[dict[str, dict[str, Any]]]:
    for colour, line, marker in zip(cycle(COLOURS), cycle(LINES), cycle(MARKERS)):
        yield {
            'line': {'color': colour, 'linestyle': line},
            'mark': {
                'color': colour,
                'marker': marker,
                'markersize': 4.5,
                'markeredgecolor': 'white',
                'markeredgewidth': 0.6,
            },
        }
