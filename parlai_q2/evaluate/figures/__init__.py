"""
Figures for a paper, written as PNG and as SVG that keeps its text as text. They need
matplotlib, which the extra ``plots`` installs.
"""

from pathlib import Path
from typing import Mapping

from parlai_q2.evaluate.evaluation import Evaluation
from parlai_q2.evaluate.figures.curves import (
    auc_figure,
    cost_figure,
    levels,
    precision_recall_figure,
    reliability_plot,
    roc_figure,
    systems_figure,
)
from parlai_q2.evaluate.figures.distributions import class_figure, group_figure
from parlai_q2.evaluate.sets import CLASSES, density_groups
from parlai_q2.evaluate.tables.settings import system_levels

__all__ = ['all_figures', 'reliability_plot']


def all_figures(
    evaluation: Evaluation, folder: Path, seconds: Mapping[str, float]
) -> list[Path]:
    """
    Draw each figure that the set has the data for.

    :param folder: where the files go; their names begin with that of the set.
    :param seconds: seconds a response by scorer, as far as they are known.
    :return: the files, PNG and SVG.
    """
    annotated, written = evaluation.annotated, []

    def at(name: str) -> Path:
        return folder / f'{annotated.name}_{name}'

    if any(True for _ in levels(evaluation)):
        written += precision_recall_figure(evaluation, at('precision_recall'))
        written += roc_figure(evaluation, at('roc'))
        groups = {'all': annotated.of_classes()}
        parts = [annotated.groups(by) for by in ('corpus', 'system')]
        groups.update(next((found for found in parts if len(found) > 1), {}))
        written += auc_figure(evaluation, groups, at('auc'))
        ranked = {measure.name for measure, _ in levels(evaluation)}
        if len(ranked & set(seconds)) > 1:
            written += cost_figure(evaluation, seconds, at('cost'))
    labelled = annotated.of_classes(CLASSES)
    if labelled:
        written += class_figure(evaluation, at('by_class'))
        density, _ = density_groups(labelled)
        written += group_figure(evaluation, density, 'density', at('by_density'))
    for by in ('corpus', 'system'):
        found = annotated.groups(by)
        if labelled and len(found) > 1:
            written += group_figure(evaluation, found, by, at(f'by_{by}'))
    if any(level.spearman for _, level in system_levels(evaluation)):
        written += systems_figure(evaluation, at('systems'))
    return written
