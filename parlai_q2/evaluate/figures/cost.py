"""
Plots ROC-AUC against the time a response takes.
"""

import math
from pathlib import Path
from typing import Mapping

from parlai_q2.evaluate.evaluation import Evaluation
from parlai_q2.evaluate.figures.curves import levels
from parlai_q2.evaluate.figures.style import BLUE, COLUMN, drawing, save

# The names of two marks closer than this would overlap.
NEAR_DECADES, NEAR_AUC = 1.0, 0.03


def cost_figure(
    evaluation: Evaluation, seconds: Mapping[str, float], path: Path
) -> list[Path]:
    """
    Draw one mark for each scorer whose cost is known.

    :param seconds: seconds a response by scorer, for at least one scorer that has
        scored both classes.
    """
    with drawing() as figure_of:
        figure = figure_of(figsize=(COLUMN, 2.6))
        axes = figure.subplots()
        marks = [
            (measure.name, seconds[measure.name] * 1000, auc)
            for measure, level in levels(evaluation)
            if measure.name in seconds and (auc := level.figures['roc_auc'])
        ]
        for name, at, auc in marks:
            axes.errorbar(
                at,
                auc.mean,
                yerr=[[auc.mean - auc.low], [auc.high - auc.mean]],
                fmt='o',
                color=BLUE,
                # Pale, so that a name stays legible where an interval crosses it.
                ecolor=BLUE + '60',
                markersize=4,
                elinewidth=1.2,
            )
            # Where two marks are close, the lower one has its name below it.
            below = any(
                abs(math.log10(at / x)) < NEAR_DECADES
                and 0 < other.mean - auc.mean < NEAR_AUC
                for _, x, other in marks
            )
            axes.annotate(
                name,
                (at, auc.mean),
                xytext=(4, -9 if below else 3),
                textcoords='offset points',
                fontsize=7,
            )
        axes.set_xscale('log')
        axes.xaxis.set_major_formatter('{x:g}')
        axes.xaxis.set_minor_formatter('')
        # Whole decades, with room for the last name.
        known = [at for _, at, _ in marks]
        axes.set_xlim(
            10 ** math.floor(math.log10(min(known))),
            10 ** math.ceil(math.log10(max(known)) + 0.4),
        )
        axes.set_xlabel('Milliseconds a response')
        axes.set_ylabel('ROC-AUC, with 95 % interval')
        return save(figure, path)
