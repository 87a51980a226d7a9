"""
Figures for a paper, written as PNG and as SVG that keeps its text as text: their style,
curves and forest plots. They need matplotlib, which the extra ``plots`` installs.
"""

from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from typing import Any, Iterator, Mapping, Sequence, Union

from parlai_q2.evaluate.calibration import BINS, calibration
from parlai_q2.evaluate.evaluation import Evaluation
from parlai_q2.evaluate.levels import ResponseLevel
from parlai_q2.evaluate.measures import Measure
from parlai_q2.evaluate.published import TABLE_4
from parlai_q2.evaluate.sets import BINARY, AnnotatedResponse
from parlai_q2.evaluate.statistics import Curves, Sweep
from parlai_q2.evaluate.tables.settings import system_levels
from parlai_q2.io.write import whole_file, writing
from parlai_q2.optional import import_package
from parlai_q2.records import Label

_PACKAGE = ('matplotlib', 'matplotlib', 'plots', 'A figure')

# From Okabe and Ito (2008): distinguishable with any colour vision, and in print.
BLUE, VERMILION, GREEN, ORANGE = '#0072B2', '#D55E00', '#009E73', '#E69F00'
SKY, PURPLE, BLACK = '#56B4E9', '#CC79A7', '#000000'
GREY = '#8A8A8A'
# Line styles and markers also distinguish scorers, not colour alone.
COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK)
LINES = ('-', '--', '-.', ':', (0, (5, 1, 1, 1, 1, 1)), (0, (9, 2)))
MARKERS = ('o', 's', '^', 'D', 'v', 'P', 'X')
CLASS_COLOURS = {Label.CONSISTENT: BLUE, Label.INCONSISTENT: VERMILION}
CLASS_COLOURS[Label.GENERIC] = GREY

# In inches: the column and text widths of a two-column paper.
COLUMN, TEXT = 3.4, 7.0
DPI = 250

_STYLE = {
    'font.size': 8,
    'axes.titlesize': 8,
    'axes.labelsize': 8,
    'xtick.labelsize': 7,
    'ytick.labelsize': 7,
    'legend.fontsize': 7,
    # No frame, but a background, so that no line runs through the text.
    'legend.edgecolor': 'none',
    'legend.framealpha': 0.85,
    'legend.borderpad': 0.2,
    'legend.handlelength': 2.2,
    'axes.spines.top': False,
    'axes.spines.right': False,
    'axes.linewidth': 0.6,
    'xtick.major.width': 0.6,
    'ytick.major.width': 0.6,
    'lines.linewidth': 1.2,
    'figure.constrained_layout.use': True,
    # Keeps text as text, and makes the output reproducible byte for byte.
    'svg.fonttype': 'none',
    'svg.hashsalt': 'parlai_q2',
}


def check_matplotlib() -> None:
    """
    Check that figures can be drawn.

    :raises MissingPackageError: when matplotlib is not installed; the message has the
        command that installs it.
    """
    import_package(*_PACKAGE)


@contextmanager
def drawing() -> Iterator[Any]:
    """
    Give matplotlib's ``Figure`` class, with our figures' style in effect.

    :raises MissingPackageError: when matplotlib is not installed.
    """
    matplotlib = import_package(*_PACKAGE)
    # Without pyplot there is no window and no global state, and nothing to close.
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE):
        yield Figure


def save(figure: Any, path: Union[str, Path]) -> list[Path]:
    """
    Write a figure as PNG and SVG, each whole or not at all.

    :param figure: a matplotlib figure.
    :param path: where to write; a suffix is replaced.
    :return: both paths.
    :raises InputError: when they cannot be written.
    """
    path = Path(path)
    if path.suffix in ('.png', '.svg'):
        path = path.with_suffix('')
    written = []
    with writing(path, 'Check --outdir.'):
        for ending in ('png', 'svg'):
            target = path.with_name(f'{path.name}.{ending}')
            stamp = {'Date': None} if ending == 'svg' else {'Software': None}
            with whole_file(target) as part:
                figure.savefig(part, format=ending, dpi=DPI, metadata=stamp)
            written.append(target)
    return written


def grid(count: int, most: int = 4) -> tuple[int, int]:
    """The rows and columns of a grid of ``count`` panels, at most ``most`` in a row."""
    rows = -(-count // most)
    return rows, -(-count // rows)


def curves_of(evaluation: Evaluation, measure: Measure, label: str) -> Curves:
    """The curves of one measure for finding one of the two classes."""
    import numpy as np

    known = measure.known(evaluation.annotated.of_classes())
    scores = measure.values(known)
    sign = 1 if label == Label.CONSISTENT else -1
    return Sweep(sign * scores, np.array([r.label == label for r in known])).curves()


def levels(evaluation: Evaluation) -> Iterator[tuple[Measure, ResponseLevel]]:
    """The measures that can be ranked: those that scored both classes."""
    annotated = evaluation.annotated.of_classes()
    for measure in evaluation.measures:
        level = evaluation.level(measure, annotated)
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
            annotated = evaluation.annotated.of_classes()
            count = sum(r.label == label for r in annotated)
            axes.axhline(count / len(annotated), color=GREY, linewidth=0.8)
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
            axes.set_title(
                f'Finding {label} responses ({count:,} of {len(annotated):,})'
            )
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
    """Draw the ROC curves for finding consistent responses, in one panel."""
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
        count = len(evaluation.annotated.of_classes())
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


def auc_figure(
    evaluation: Evaluation,
    groups: Mapping[str, Sequence[AnnotatedResponse]],
    path: Path,
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
        if evaluation.annotated.name == 'q2_wow':
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


def reliability_plot(
    probabilities: Sequence[float],
    labels: Sequence[bool],
    path: Union[str, Path],
    bins: int = BINS,
    title: str = '',
    positive: str = 'consistent',
) -> list[Path]:
    """
    Draw probabilities against outcomes, with the number of responses in each bin.

    :param probabilities: n values in [0, 1].
    :param labels: n outcomes, whether each response is positive.
    :param path: where to write, with or without a suffix; a PNG and an SVG are written.
    :param bins: number of bins, of equal width.
    :param title: printed above the figure.
    :param positive: what the axes call a positive response.
    :return: both paths.
    :raises ValueError: when a value is not a probability, or there are no values.
    :raises MissingPackageError: when matplotlib is not installed.
    """
    found = calibration(probabilities, [bool(label) for label in labels], bins)
    with drawing() as figure_of:
        figure = figure_of(figsize=(COLUMN, 3.7))
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3.2, 1))
        above.plot([0, 1], [0, 1], color=GREY, linewidth=0.8)
        held = [(b.confidence, b.share) for b in found.bins if b.share is not None]
        shares = [share for _, share in held]
        above.errorbar(
            [confidence for confidence, _ in held],
            [s.mean for s in shares],
            yerr=[[s.mean - s.low for s in shares], [s.high - s.mean for s in shares]],
            fmt='o-',
            color=BLUE,
            markersize=4,
            elinewidth=0.9,
            # So that a mark at 0 or 1 is not cut in half.
            clip_on=False,
        )
        above.set_xlim(0, 1)
        above.set_ylim(0, 1)
        above.set_ylabel(f'Share that is {positive}')
        above.text(
            0.03,
            0.97,
            f'ECE {found.error:.3f}\nBrier {found.brier:.3f}\nn = {len(labels)}',
            transform=above.transAxes,
            va='top',
            fontsize=7,
        )
        below.bar(
            [b.low for b in found.bins],
            [b.count for b in found.bins],
            width=1 / bins,
            align='edge',
            color=BLUE,
            alpha=0.5,
            edgecolor='white',
            linewidth=0.5,
        )
        below.set_ylabel('Responses')
        below.set_xlabel(f'Probability of {positive}')
        if title:
            above.set_title(title)
        return save(figure, path)
