"""
Forest plots, with one row for each scorer: ROC-AUC by group, and Spearman at system
level (Honovich et al. 2021, Table 4).
"""

from pathlib import Path
from typing import Mapping, Sequence

from parlai_q2.evaluate.evaluation import Evaluation
from parlai_q2.evaluate.figures.style import (
    BLACK,
    BLUE,
    COLOURS,
    COLUMN,
    GREY,
    MARKERS,
    VERMILION,
    drawing,
    save,
)
from parlai_q2.evaluate.judged import BINARY, Judged
from parlai_q2.evaluate.published import TABLE_4
from parlai_q2.evaluate.tables.systems import system_levels


def auc_figure(
    evaluation: Evaluation, groups: Mapping[str, Sequence[Judged]], path: Path
) -> list[Path]:
    """
    Draw ROC-AUC with 95 % intervals, and the number of responses in each group.

    :param groups: responses by the group's name; each group has a colour and a mark.
    """
    measures = evaluation.measures
    step = 0.62 / max(len(groups), 1)
    with drawing() as figure_of:
        height = 0.75 + len(measures) * max(0.3, 0.13 * len(groups))
        figure = figure_of(figsize=(COLUMN, height))
        axes = figure.subplots()
        axes.axvline(0.5, color=GREY, linewidth=0.8)
        for g, (name, responses) in enumerate(groups.items()):
            places, values, below, above = [], [], [], []
            for m, measure in enumerate(measures):
                level = evaluation.level(measure, responses)
                auc = level.figures['roc_auc']
                if auc is not None:
                    places.append(m + (g - (len(groups) - 1) / 2) * step)
                    values.append(auc.mean)
                    below.append(auc.mean - auc.low)
                    above.append(auc.high - auc.mean)
            axes.errorbar(
                values,
                places,
                xerr=[below, above],
                fmt=MARKERS[g % len(MARKERS)],
                color=COLOURS[g % len(COLOURS)],
                markersize=3.6,
                elinewidth=1,
                label=f'{name} (n = {sum(r.label in BINARY for r in responses):,})',
            )
        axes.set_yticks(range(len(measures)), [m.name for m in measures])
        axes.set_ylim(len(measures) - 0.5, -0.5)
        axes.set_xlabel('ROC-AUC, with 95 % interval')
        figure.legend(loc='outside upper center', ncols=min(2, len(groups)))
        return save(figure, path)


def systems_figure(evaluation: Evaluation, path: Path) -> list[Path]:
    """
    Draw Spearman's rho over the rounds: a box for the quartiles, whiskers over the
    middle 95 %, the mean, and the mean that the paper reports.
    """
    found = [(m, level) for m, level in system_levels(evaluation) if level.spearman]
    with drawing() as figure_of:
        figure = figure_of(figsize=(COLUMN, 0.85 + 0.28 * len(found)))
        axes = figure.subplots()
        axes.boxplot(
            [level.rounds[level.rounds == level.rounds] for _, level in found],
            positions=range(len(found)),
            orientation='horizontal',
            widths=0.5,
            whis=(2.5, 97.5),
            showfliers=False,
            patch_artist=True,
            manage_ticks=False,
            boxprops={'facecolor': BLUE + '40', 'edgecolor': BLUE},
            whiskerprops={'color': BLUE},
            capprops={'color': BLUE},
            medianprops={'color': BLUE, 'linewidth': 1.4},
        )
        means = [level.spearman.mean for _, level in found if level.spearman]
        style = {'linestyle': 'none', 'markersize': 3.5, 'zorder': 3}
        axes.plot(
            means, range(len(found)), marker='o', color=BLACK, label='mean', **style
        )
        if evaluation.judged.name == 'q2_wow':
            places = [i for i, (m, _) in enumerate(found) if m.name in TABLE_4]
            paper = [TABLE_4[m.name][0] for m, _ in found if m.name in TABLE_4]
            axes.plot(
                paper,
                places,
                marker='D',
                markerfacecolor='none',
                markeredgecolor=VERMILION,
                label="the paper's mean",
                **{**style, 'markersize': 6.5, 'zorder': 4},
            )
        axes.set_yticks(range(len(found)), [m.name for m, _ in found])
        axes.set_ylim(len(found) - 0.5, -0.5)
        axes.set_xlim(right=1.03)
        axes.set_xlabel("Spearman's ρ of simulated systems")
        figure.legend(loc='outside upper center', ncols=2)
        return save(figure, path)
