"""
Figures for a paper, written as PNG and as SVG that keeps its text as text:
precision-recall curves (Honovich et al. 2021), and scores by group and class (Dziri et
al. 2022, section 4.4). They need matplotlib, which the extra ``plots`` installs.
"""

from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterator, Mapping, Sequence

from parlai_q2.claims import Label
from parlai_q2.evaluate.evaluation import Evaluation
from parlai_q2.evaluate.measures import Measure
from parlai_q2.evaluate.sets import CLASSES, AnnotatedResponse, density_groups
from parlai_q2.evaluate.statistics import Sweep
from parlai_q2.io.write import whole_file, writing
from parlai_q2.optional import import_package

# From Okabe and Ito (2008): distinguishable with any colour vision, and in print.
BLUE, VERMILION, GREEN, ORANGE = '#0072B2', '#D55E00', '#009E73', '#E69F00'
SKY, PURPLE, BLACK, GREY = '#56B4E9', '#CC79A7', '#000000', '#8A8A8A'
# Line styles and markers also distinguish scorers, not colour alone.
COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK)
LINES = ('-', '--', '-.', ':', (0, (5, 1, 1, 1, 1, 1)), (0, (9, 2)))
MARKERS = ('o', 's', '^', 'D', 'v', 'P', 'X')
CLASS_COLOURS = {Label.CONSISTENT: BLUE, Label.INCONSISTENT: VERMILION}
CLASS_COLOURS[Label.GENERIC] = GREY

WIDTH = 7.0  # in inches, that of the text of a two-column paper
DPI = 250
MOST_PANELS = 4  # in a row

_STYLE = {
    'font.size': 8,
    'axes.titlesize': 8,
    'axes.labelsize': 8,
    'xtick.labelsize': 7,
    'ytick.labelsize': 7,
    'legend.fontsize': 7,
    'legend.edgecolor': 'none',
    'axes.spines.top': False,
    'axes.spines.right': False,
    'axes.linewidth': 0.6,
    'lines.linewidth': 1.2,
    'figure.constrained_layout.use': True,
    # Keeps text as text, and makes the output reproducible byte for byte.
    'svg.fonttype': 'none',
    'svg.hashsalt': 'parlai_q2',
}


def check_matplotlib() -> Any:
    """
    Check that figures can be drawn.

    :return: matplotlib.
    :raises MissingPackageError: when it is not installed; the message has the command
        that installs it.
    """
    return import_package('matplotlib', 'matplotlib', 'plots', 'A figure')


def all_figures(evaluation: Evaluation, folder: Path) -> list[Path]:
    """
    Draw each figure that the set has the data for, each written whole or not at all.

    :param folder: where the files go; their names begin with that of the set.
    :return: the files, PNG and SVG.
    :raises InputError: when they cannot be written.
    """
    annotated, written = evaluation.annotated, []

    @contextmanager
    def drawing(name: str, height: float) -> Iterator[Any]:
        with check_matplotlib().rc_context(_STYLE):
            # Without pyplot there is no window and no global state.
            from matplotlib.figure import Figure

            figure = Figure(figsize=(WIDTH, height))
            yield figure
            for ending, stamp in (('png', 'Software'), ('svg', 'Date')):
                path = folder / f'{annotated.name}_{name}.{ending}'
                with writing(path, 'Check --outdir.'), whole_file(path) as part:
                    figure.savefig(part, format=ending, dpi=DPI, metadata={stamp: None})
                written.append(path)

    two = annotated.of_classes()
    ranked = [m for m in evaluation.measures if evaluation.level(m, two)['roc_auc']]
    if ranked:
        height = 2.9 + 0.15 * -(-len(ranked) // 2)
        with drawing('precision_recall', height) as figure:
            draw_curves(evaluation, figure, ranked)
    labelled = annotated.of_classes(CLASSES)
    count = sum(bool(m.known(labelled)) for m in evaluation.measures)
    groups = {
        'class': {'all': labelled},
        'density': density_groups(labelled)[0],
        'corpus': annotated.groups('corpus'),
        'system': annotated.groups('system'),
    }
    for by, found in groups.items():
        if count and len(found) > (by != 'class'):
            with drawing(f'by_{by}', 0.45 + 1.55 * -(-count // MOST_PANELS)) as figure:
                draw_groups(evaluation, figure, found, by)
    return written


def draw_curves(
    evaluation: Evaluation, figure: Any, measures: Sequence[Measure]
) -> None:
    """
    Draw precision against recall in two panels: for finding inconsistent responses and
    for finding consistent ones. A mark shows each scorer's fixed threshold; the grey
    line is chance.

    :param measures: those that have scored both classes.
    """
    import numpy as np

    annotated = evaluation.annotated.of_classes()
    panels = figure.subplots(1, 2, sharey=True)
    panels[0].set_ylabel('Precision')
    for axes, label in zip(panels, (Label.INCONSISTENT, Label.CONSISTENT)):
        count = sum(r.label == label for r in annotated)
        axes.axhline(count / len(annotated), color=GREY, linewidth=0.8)
        for n, measure in enumerate(measures):
            level = evaluation.level(measure, annotated)
            line = {'color': COLOURS[n % len(COLOURS)], 'ls': LINES[n % len(LINES)]}
            mark = {'color': line['color'], 'marker': MARKERS[n % len(MARKERS)]}
            known = measure.known(annotated)
            sign = 1 if label == Label.CONSISTENT else -1
            positive = np.array([r.label == label for r in known])
            recall, precision = Sweep(sign * measure.values(known), positive).curve()
            start = precision[0]
            axes.step([0, *recall], [start, *precision], where='pre', **line)
            at, reached = level[f'{label}_precision'], level[f'{label}_recall']
            if at is not None and reached is not None:
                axes.plot(reached.mean, at.mean, ms=4.5, mec='white', **mark)
            ap = level[f'{label}_ap']
            name = f'{measure.name}  {ap.mean:.2f}' if ap else measure.name
            axes.plot([], [], label=name, ms=4.5, mec='white', **{**line, **mark})
        axes.set(xlabel='Recall', xlim=(-0.01, 1.01), ylim=(0, 1.02))
        axes.set_title(f'Finding {label} responses ({count:,} of {len(annotated):,})')
        place = {'loc': 'upper center', 'bbox_to_anchor': (0.5, -0.17), 'ncols': 2}
        axes.legend(title='average precision', **place)


def draw_groups(
    evaluation: Evaluation,
    figure: Any,
    groups: Mapping[str, Sequence[AnnotatedResponse]],
    by: str,
) -> None:
    """
    Draw one panel for each scorer: box plots of the score by group and class.

    Boxes span the quartiles, whiskers the 5th to the 95th percentile; the line is the
    median, the dot the mean, the dotted line the threshold. The number of responses is
    below each group's name.

    :param groups: responses by the group's name, in order.
    :param by: what the groups are, for the axis label.
    """
    from matplotlib.patches import Patch

    labelled = evaluation.annotated.of_classes(CLASSES)
    counts = {c: sum(r.label == c for r in labelled) for c in CLASSES}
    classes = [c for c in CLASSES if counts[c]]
    measures = [m for m in evaluation.measures if m.known(labelled)]
    rows = -(-len(measures) // MOST_PANELS)
    panels = figure.subplots(rows, -(-len(measures) // rows), squeeze=False).flat
    for axes in panels[len(measures) :]:
        figure.delaxes(axes)
    sizes = [sum(r.label in CLASSES for r in group) for group in groups.values()]
    names = [f'{name}\n{size:,}' for name, size in zip(groups, sizes, strict=True)]
    for axes, measure in zip(panels, measures):
        for c, label in enumerate(classes):
            for g, responses in enumerate(groups.values()):
                known = measure.known([r for r in responses if r.label == label])
                if known:
                    place = g + (c - (len(classes) - 1) / 2) * 0.27
                    _box(axes, measure.values(known), place, CLASS_COLOURS[label])
        axes.set(title=measure.name, xlim=(-0.55, len(groups) - 0.45))
        axes.set_xticks(range(len(groups)), names)
        if measure.threshold is not None:
            axes.axhline(measure.threshold, color=BLACK, linewidth=0.7, linestyle=':')
            axes.set_ylim(-0.03, 1.03)
    figure.supylabel('Score', fontsize=8)
    figure.supxlabel(f'{by.capitalize()}, and how many responses', fontsize=8)
    keys = [
        Patch(color=CLASS_COLOURS[c], label=f'{c} (n = {counts[c]:,})') for c in classes
    ]
    figure.legend(handles=keys, loc='outside upper center', ncols=len(keys))


def _box(axes: Any, values: Any, place: float, colour: str) -> None:
    line = {'color': colour, 'linewidth': 0.8}
    dot = {'marker': 'o', 'markersize': 2.6, 'mfc': BLACK, 'mec': BLACK}
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
        meanprops=dot,
    )
