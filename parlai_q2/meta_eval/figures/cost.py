"""
What accuracy costs: ROC-AUC against seconds a response.
"""

import math
from pathlib import Path
from typing import Mapping, Sequence

from parlai_q2.meta_eval.evaluation import Evaluation
from parlai_q2.meta_eval.figures.curves import levels
from parlai_q2.meta_eval.figures.style import BLUE, COLUMN, drawing, save

# Marks so near to one another would have their names in one place.
NEAR_DECADES, NEAR_AUC = 0.6, 0.03


def cost_figure(
    evaluation: Evaluation, seconds: Mapping[str, float], path: Path
) -> list[Path]:
    """
    A mark a scorer whose cost is known.

    :param seconds: a response, by scorer; of one scorer at least that scored both
        classes.
    """
    with drawing() as figure_of:
        figure = figure_of(figsize=(COLUMN, 2.6))
        axes = figure.subplots()
        names: list[str] = []
        marks: list[tuple[float, float]] = []
        for measure, level in levels(evaluation):
            auc = level.figures['roc_auc']
            if measure.name not in seconds or auc is None:
                continue
            names.append(measure.name)
            at = seconds[measure.name] * 1000
            axes.errorbar(
                at,
                auc.mean,
                yerr=[[auc.mean - auc.low], [auc.high - auc.mean]],
                fmt='o',
                color=BLUE,
                markersize=4,
                elinewidth=0.9,
            )
            axes.annotate(
                measure.name,
                (at, auc.mean),
                xytext=(4, _beside(at, auc.mean, marks)),
                textcoords='offset points',
                fontsize=7,
            )
            marks.append((at, auc.mean))
        axes.set_xscale('log')
        axes.xaxis.set_major_formatter('{x:g}')
        axes.xaxis.set_minor_formatter('')
        # Whole decades, with room for the last name.
        known = [1000 * s for name, s in seconds.items() if name in names]
        axes.set_xlim(
            10 ** math.floor(math.log10(min(known))),
            10 ** math.ceil(math.log10(max(known)) + 0.4),
        )
        axes.set_xlabel('Milliseconds a response')
        axes.set_ylabel('ROC-AUC, with 95 % interval')
        return save(figure, path)


def _beside(at: float, auc: float, marks: Sequence[tuple[float, float]]) -> int:
    """
    How far above its mark a name stands, in points; below it where the name of a mark
    nearby stands above.
    """
    near = any(
        abs(math.log10(at / x)) < NEAR_DECADES and abs(auc - y) < NEAR_AUC
        for x, y in marks
    )
    return -9 if near else 3
