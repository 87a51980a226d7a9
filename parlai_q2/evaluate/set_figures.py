"""
Draws the figures of an evaluation: precision-recall and ROC curves, reliability
diagrams; scores by class (Honovich et al. 2021, appendix D); density, scores by group
and F1 by corpus (Dziri et al. 2022, Figures 2 and 7 to 9).
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from parlai_q2.claims import Label
from parlai_q2.evaluate.evaluation import Evaluation
from parlai_q2.evaluate.measures import ScoreTable
from parlai_q2.evaluate.sets import (
    BINARY,
    CLASSES,
    AnnotatedResponse,
    density_groups,
    measure_density,
)
from parlai_q2.evaluate.tables.responses import f1_table
from parlai_q2.figures.curves import (
    Ranked,
    draw_precision_recall,
    draw_reliability,
    draw_roc,
)
from parlai_q2.figures.distributions import (
    BETWEEN,
    draw_box,
    draw_classes,
    draw_densities,
    draw_points,
)
from parlai_q2.figures.style import (
    BLACK,
    CLASS_COLOURS,
    new_figure,
    panels,
    rows_of_panels,
    save,
)
from parlai_q2.intervals import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

T = TypeVar('T')
ROW = 1.55  # inches of a row of panels
# The names of the axis of groups, if the groups' own name is not enough.
AXES = {'density': 'Density (low: abstractive, high: extractive)'}
# Panels that are compared have the same axes.
SHARED = {'sharex': True, 'sharey': True}
FEWEST = 5


class FigureWriter:
    """Draws the figures of a set, and writes each as soon as it is drawn."""

    def __init__(self, evaluation: Evaluation, folder: Path):
        self.evaluation = evaluation
        self.annotated = evaluation.annotated
        self.folder = folder
        self.written: list[Path] = []
        self.labelled = self.annotated.of_classes(CLASSES)
        self.two = self.annotated.of_classes()
        # The measures that have scored some of the classes, and those that have scored
        # both.
        self.scored = [m for m in evaluation.measures if m.select_scored(self.labelled)]
        self.ranked = [
            m for m in evaluation.measures if evaluation.level(m, self.two)['roc_auc']
        ]

    @contextmanager
    def drawing(self, name: str, height: float) -> Iterator['Figure']:
        with new_figure(height) as figure:
            yield figure
            self.written += save(figure, self.folder, f'{self.annotated.name}_{name}')

    @contextmanager
    def panels(
        self, name: str, items: Collection[T], margin: float = 0.45, **options: Any
    ) -> Iterator[tuple['Figure', Iterable[tuple['Axes', T]]]]:
        """A figure with a panel for each item, and the pairs of panel and item."""
        with self.drawing(name, margin + ROW * rows_of_panels(len(items))) as figure:
            yield figure, zip(panels(figure, len(items), **options), items, strict=True)

    def curves(self) -> None:
        """Precision-recall curves of both classes, and ROC curves."""
        if not self.ranked:
            return
        height = 2.9 + 0.15 * -(-len(self.ranked) // 2)
        with self.drawing('precision_recall', height) as figure:
            axes = figure.subplots(1, 2, sharey=True)
            axes[0].set_ylabel('Precision')
            for panel, label in zip(axes, (Label.INCONSISTENT, Label.CONSISTENT)):
                count = sum(r.label == label for r in self.two)
                panel.axhline(
                    count / len(self.two), color=CLASS_COLOURS['generic'], lw=0.8
                )
                title = f'Finding {label} responses ({count:,} of {len(self.two):,})'
                curves = [self._ranked(m, f'{label}_ap') for m in self.ranked]
                draw_precision_recall(panel, curves, label == Label.CONSISTENT, title)
        with self.drawing('roc', height + 0.6) as figure:
            (axes, rest) = figure.subplots(1, 2, width_ratios=(2, 1))
            figure.delaxes(rest)
            axes.set_ylabel('Consistent responses called consistent')
            draw_roc(
                axes,
                [self._ranked(m, 'roc_auc') for m in self.ranked],
                f'ROC, {len(self.two):,} responses',
            )

    def reliability(self) -> None:
        """Reliability diagrams of the scorers with values in [0, 1]."""
        bounded = [m for m in self.ranked if m.threshold is not None]
        if not bounded:
            return
        height = 0.5 + 1.9 * rows_of_panels(len(bounded))
        with self.drawing('reliability', height) as figure:
            for axes, measure in zip(panels(figure, len(bounded)), bounded):
                draw_reliability(axes, self._ranked(measure, None))
            figure.supxlabel('Value, and how many responses have it')
            figure.supylabel('Share of consistent responses')

    def _ranked(self, measure: ScoreTable, area: str | None) -> Ranked:
        import numpy as np

        scored = measure.select_scored(self.two)
        interval = self.evaluation.level(measure, self.two)[area] if area else None
        return Ranked(
            measure.name,
            measure.values(scored),
            np.array([r.label == Label.CONSISTENT for r in scored]),
            measure.threshold,
            interval.mean if interval else None,
        )

    def histograms(self) -> None:
        """The distribution of the scores of each class."""
        if not self.scored:
            return
        with self.panels('histograms', self.scored) as (figure, drawn):
            for axes, measure in drawn:
                by_class = {
                    label: measure.values(
                        measure.select_scored(self.annotated.of_classes([label]))
                    )
                    for label in CLASSES
                }
                draw_classes(axes, by_class, measure.name)
            figure.supxlabel('Score')
            figure.supylabel('Share of the class')
            self._classes_legend(figure)

    def groups(self) -> None:
        """Scores by class, density, corpus and system."""
        groups = {
            'class': {'all': self.labelled},
            'density': density_groups(self.labelled)[0],
            'corpus': self.annotated.groups('corpus'),
            'system': self.annotated.groups('system'),
        }
        for by, members in groups.items():
            if self.scored and len(members) > (by != 'class'):
                self._draw_groups(members, by)

    def _draw_groups(
        self, groups: Mapping[str, Sequence[AnnotatedResponse]], by: str
    ) -> None:
        classes = [c for c in CLASSES if self.annotated.of_classes([c])]
        sizes = [sum(r.label in CLASSES for r in group) for group in groups.values()]
        names = [f'{name}\n{n:,}' for name, n in zip(groups, sizes, strict=True)]
        with self.panels(f'by_{by}', self.scored) as (figure, drawn):
            for axes, measure in drawn:
                for (c, label), (g, responses) in product(
                    enumerate(classes), enumerate(groups.values())
                ):
                    members = [r for r in responses if r.label == label]
                    scored = measure.select_scored(members)
                    if scored:
                        place = g + (c - (len(classes) - 1) / 2) * BETWEEN
                        values = measure.values(scored)
                        draw_box(axes, values, place, CLASS_COLOURS[label])
                axes.set(title=measure.name, xlim=(-0.55, len(groups) - 0.45))
                axes.set_xticks(range(len(groups)), names)
                if measure.threshold is not None:
                    axes.axhline(measure.threshold, color=BLACK, lw=0.7, ls=':')
                    axes.set_ylim(-0.03, 1.03)
            figure.supylabel('Score')
            axis_title = AXES.get(by, by.capitalize())
            figure.supxlabel(f'{axis_title}, and how many responses')
            self._classes_legend(figure)

    def _classes_legend(
        self, figure: 'Figure', classes: Sequence[str] = CLASSES
    ) -> None:
        from matplotlib.patches import Patch

        counts = {c: len(self.annotated.of_classes([c])) for c in classes}
        keys = [
            Patch(color=CLASS_COLOURS[c], label=f'{c} (n = {n:,})')
            for c, n in counts.items()
            if n
        ]
        figure.legend(handles=keys, loc='outside upper center', ncols=len(keys))

    def density(self) -> None:
        """How much the responses of each class copy, by corpus."""
        corpora = self.annotated.groups('corpus') or {'': self.labelled}
        densities: dict[str, dict[str, list[float]]] = {}
        for name, members in corpora.items():
            by_class: dict[str, list[float]] = {label: [] for label in CLASSES}
            for response in members:
                if response.label in CLASSES:
                    by_class[response.label].append(measure_density(response))
            if any(by_class.values()):
                densities[name] = by_class
        if not densities:
            return
        cuts = density_groups(self.labelled)[1]
        with self.panels('density', densities, 0.6, **SHARED) as (figure, axes_names):
            for axes, name in axes_names:
                by_class = densities[name]
                count = sum(map(len, by_class.values()))
                title = f'{name or "all"}, {count:,}'
                few = _few(by_class)
                if few:
                    omitted = (f'{len(by_class[c])} {c}' for c in few)
                    title += f' (not drawn: {", ".join(omitted)})'
                drawn = {c: v for c, v in by_class.items() if c not in few}
                draw_densities(axes, drawn, cuts, title)
            figure.supxlabel(
                'Density: 0 shares no word with the knowledge; dotted: the thirds of '
                'the set'
            )
            figure.supylabel('Share of the class')
            self._classes_legend(figure)

    def f1(self) -> None:
        """F1 of both classes by corpus."""
        table = f1_table(self.evaluation)
        if table is None:
            return
        scorers = list(dict.fromkeys(str(row['scorer']) for row in table.rows))
        corpora = list(dict.fromkeys(str(row['corpus']) for row in table.rows))
        with self.panels('f1_by_corpus', scorers, 0.6, **SHARED) as (figure, drawn):
            for axes, scorer in drawn:
                rows = [row for row in table.rows if row['scorer'] == scorer]
                points = {}
                for row, label in product(rows, BINARY):
                    if isinstance(value := row.get(label), Interval):
                        points[str(row['corpus']), label] = value
                draw_points(axes, corpora, points, scorer)
            figure.supylabel('F1')
            self._classes_legend(figure, BINARY)


def _few(by_class: Mapping[str, Sequence[float]]) -> list[str]:
    """The classes with so few responses that their bars would dwarf the others'."""
    sizes = {c: len(values) for c, values in by_class.items() if values}
    if max(sizes.values()) < FEWEST:
        return []
    return [c for c, size in sizes.items() if size < FEWEST]


def all_figures(evaluation: Evaluation, folder: Path) -> list[Path]:
    """
    Draw each figure that the set has the data for.

    :return: the files, PNG and SVG.
    :raises MissingPackageError: without matplotlib.
    :raises InputError: when they cannot be written.
    """
    writer = FigureWriter(evaluation, folder)
    writer.curves()
    writer.reliability()
    writer.histograms()
    writer.density()
    writer.groups()
    writer.f1()
    return writer.written
