"""
Figures for a paper, written as PNG and as SVG that keeps its text as text:
precision-recall curves (Honovich et al. 2021), scores by group and class (Dziri et al.
2022, section 4.4) and reliability. They need matplotlib, which the extra ``plots``
installs.
"""

from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from typing import Any, Iterator, Mapping, Sequence, Union

from parlai_q2.evaluate.calibration import BINS, calibration
from parlai_q2.evaluate.evaluation import Evaluation
from parlai_q2.evaluate.levels import Figures
from parlai_q2.evaluate.measures import Measure
from parlai_q2.evaluate.sets import CLASSES, AnnotatedResponse, density_groups
from parlai_q2.evaluate.statistics import Sweep
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
MOST_PANELS = 4  # in a row

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


def all_figures(evaluation: Evaluation, folder: Path) -> list[Path]:
    """
    Draw each figure that the set has the data for.

    :param folder: where the files go; their names begin with that of the set.
    :return: the files, PNG and SVG.
    """
    annotated, written = evaluation.annotated, []

    def at(name: str) -> Path:
        return folder / f'{annotated.name}_{name}'

    if _ranked(evaluation):
        written += precision_recall_figure(evaluation, at('precision_recall'))
    labelled = annotated.of_classes(CLASSES)
    if any(measure.known(labelled) for measure in evaluation.measures):
        groups = {
            'class': {'all': labelled},
            'density': density_groups(labelled)[0],
            'corpus': annotated.groups('corpus'),
            'system': annotated.groups('system'),
        }
        for by, found in groups.items():
            if len(found) > (by != 'class'):
                written += group_figure(evaluation, found, by, at(f'by_{by}'))
    return written


def _ranked(evaluation: Evaluation) -> list[tuple[Measure, Figures]]:
    """The measures that have scored both classes."""
    annotated = evaluation.annotated.of_classes()
    levels = [(m, evaluation.level(m, annotated)) for m in evaluation.measures]
    return [(m, level) for m, level in levels if level['roc_auc']]


def precision_recall_figure(evaluation: Evaluation, path: Path) -> list[Path]:
    """
    Draw precision against recall in two panels: for finding inconsistent responses and
    for finding consistent ones. A mark shows each scorer's fixed threshold; the grey
    line is chance.
    """
    import numpy as np

    annotated = evaluation.annotated.of_classes()
    found = _ranked(evaluation)
    with drawing() as figure_of:
        figure = figure_of(figsize=(TEXT, 2.9 + 0.15 * -(-len(found) // 2)))
        panels = figure.subplots(1, 2, sharey=True)
        for axes, label in zip(panels, (Label.INCONSISTENT, Label.CONSISTENT)):
            count = sum(r.label == label for r in annotated)
            axes.axhline(count / len(annotated), color=GREY, linewidth=0.8)
            for (measure, level), look in zip(found, _looks()):
                known = measure.known(annotated)
                sign = 1 if label == Label.CONSISTENT else -1
                scores = sign * measure.values(known)
                positive = np.array([r.label == label for r in known])
                recall, precision = Sweep(scores, positive).curve()
                axes.step(
                    [0, *recall],
                    [precision[0], *precision],
                    where='pre',
                    **look['line'],
                )
                at = level[f'{label}_precision']
                reached = level[f'{label}_recall']
                if at is not None and reached is not None:
                    axes.plot(reached.mean, at.mean, **look['mark'])
                ap = level[f'{label}_ap']
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


def group_figure(
    evaluation: Evaluation,
    groups: Mapping[str, Sequence[AnnotatedResponse]],
    by: str,
    path: Path,
) -> list[Path]:
    """
    Draw one panel for each scorer: box plots of the score by group and class.

    Boxes span the quartiles, whiskers the 5th to the 95th percentile; the line is the
    median, the dot the mean, the dotted line the threshold. The number of responses is
    below each group's name.

    :param groups: responses by the group's name, in order.
    :param by: what the groups are, for the axis label.
    """
    labelled = evaluation.annotated.of_classes(CLASSES)
    counts = {c: sum(r.label == c for r in labelled) for c in CLASSES}
    classes = [c for c in CLASSES if counts[c]]
    measures = [m for m in evaluation.measures if m.known(labelled)]
    rows = -(-len(measures) // MOST_PANELS)
    columns = -(-len(measures) // rows)
    with drawing() as figure_of:
        from matplotlib.patches import Patch

        figure = figure_of(figsize=(TEXT, 0.45 + 1.55 * rows))
        panels = list(figure.subplots(rows, columns, squeeze=False).flat)
        for axes in panels[len(measures) :]:
            figure.delaxes(axes)
        for axes, measure in zip(panels, measures):
            for c, label in enumerate(classes):
                for g, responses in enumerate(groups.values()):
                    known = measure.known([r for r in responses if r.label == label])
                    if known:
                        place = g + (c - (len(classes) - 1) / 2) * 0.27
                        _box(axes, measure.values(known), place, CLASS_COLOURS[label])
            axes.set_title(measure.name)
            axes.set_xlim(-0.55, len(groups) - 0.45)
            sizes = [sum(r.label in CLASSES for r in g) for g in groups.values()]
            names = [f'{n}\n{size:,}' for n, size in zip(groups, sizes)]
            axes.set_xticks(range(len(groups)), names)
            if measure.threshold is not None:
                axes.axhline(
                    measure.threshold, color=BLACK, linewidth=0.7, linestyle=':'
                )
                axes.set_ylim(-0.03, 1.03)
        figure.supylabel('Score', fontsize=8)
        figure.supxlabel(f'{by.capitalize()}, and how many responses', fontsize=8)
        handles = [
            Patch(color=CLASS_COLOURS[c], label=f'{c} (n = {counts[c]:,})')
            for c in classes
        ]
        figure.legend(handles=handles, loc='outside upper center', ncols=len(handles))
        return save(figure, path)


def _box(axes: Any, values: Any, place: float, colour: str) -> None:
    line = {'color': colour, 'linewidth': 0.8}
    axes.boxplot(
        [values],
        positions=[place],
        widths=0.21,
        whis=(5, 95),
        showfliers=False,
        showmeans=True,
        patch_artist=True,
        manage_ticks=False,
        boxprops={'facecolor': colour + '50', 'edgecolor': colour, 'linewidth': 0.8},
        whiskerprops=line,
        capprops=line,
        medianprops={'color': colour, 'linewidth': 1.4},
        meanprops={
            'marker': 'o',
            'markersize': 2.6,
            'markerfacecolor': BLACK,
            'markeredgecolor': BLACK,
        },
    )


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
        above.plot(
            [b.confidence for b in found.bins],
            [b.share for b in found.bins],
            'o-',
            color=BLUE,
            markersize=4,
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
