"""
The figures of a calibration: how well the values rank the pairs and whether they are
probabilities, before calibration and on pairs held out from it.
"""

from pathlib import Path
from typing import Any

from parlai_q2.calibrate.calibration import Calibrated
from parlai_q2.claims import Label
from parlai_q2.figures.curves import (
    Ranked,
    draw_precision_recall,
    draw_reliability,
    draw_roc,
)
from parlai_q2.figures.distributions import draw_classes
from parlai_q2.figures.style import new_figure, save
from parlai_q2.sweep import roc_auc

BEFORE, HELD_OUT = 'as it was', 'calibrated, held out'


def all_figures(calibrated: Calibrated, threshold: float, folder: Path) -> list[Path]:
    """
    Draw ROC and precision-recall curves, reliability diagrams and histograms by class.
    Errors are those of :func:`parlai_q2.evaluate.set_figures.all_figures`.

    :param threshold: the scorer's threshold before it was calibrated.
    :return: the files, PNG and SVG.
    """
    truth, written = calibrated.consistent, []
    fitted = float(calibrated.written['calibration']['threshold'])
    curves = [
        Ranked(name, values, truth, at, roc_auc(values[truth], values[~truth]))
        for name, values, at in (
            (BEFORE, calibrated.before, threshold),
            (HELD_OUT, calibrated.held_out, fitted),
        )
    ]
    with new_figure(3.4) as figure:
        left_axes, right_axes = figure.subplots(1, 2)
        draw_roc(left_axes, curves, f'ROC, {len(truth):,} pairs')
        left_axes.set_ylabel('Consistent responses called consistent')
        bare = [Ranked(b.name, b.values, truth, b.threshold) for b in curves]
        count = int((~truth).sum())
        title = f'Finding inconsistent responses ({count:,} of {len(truth):,})'
        draw_precision_recall(right_axes, bare, False, title)
        right_axes.set_ylabel('Precision')
        written += save(figure, folder, 'curves')
    with new_figure(2.9) as figure:
        for axes, curve in zip(figure.subplots(1, 2, sharey=True), curves):
            draw_reliability(axes, curve)
        figure.supxlabel('Value, and how many pairs have it')
        figure.supylabel('Share of consistent pairs')
        written += save(figure, folder, 'reliability')
    with new_figure(2.4) as figure:
        for axes, curve in zip(figure.subplots(1, 2, sharey=True), curves):
            by_class: dict[str, Any] = {
                Label.CONSISTENT: curve.values[truth],
                Label.INCONSISTENT: curve.values[~truth],
            }
            draw_classes(axes, by_class, curve.name)
            axes.axvline(curve.threshold, color='black', linewidth=0.7, linestyle=':')
        figure.supxlabel('Value; dotted: the threshold')
        figure.supylabel('Share of the class')
        written += save(figure, folder, 'histograms')
    return written
