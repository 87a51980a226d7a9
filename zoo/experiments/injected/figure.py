"""
Draws the experiment in one figure: what is injected, what each filter finds of it, and
what the generators make up. Needs matplotlib (``pip install parlai_q2[plots]``).
"""

from pathlib import Path
from typing import Any

from parlai_q2.evaluate.figures.style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    MARKERS,
    ORANGE,
    TEXT,
    VERMILION,
    drawing,
    save,
)
from parlai_q2.zoo.experiments.injected.measure import (
    F1,
    MADE_UP,
    NEW_WORDS,
    Measure,
    measures,
)
from parlai_q2.zoo.experiments.injected.results import Results
from parlai_q2.zoo.experiments.injected.runs import WAYS
from parlai_q2.zoo.experiments.injected.settings import (
    CLEAN,
    CONTROL,
    FILTERED,
    RANDOM,
    UNFILTERED,
    Settings,
)

COLOURS = {
    UNFILTERED: VERMILION,
    RANDOM: ORANGE,
    FILTERED: BLUE,
    CONTROL: GREEN,
    CLEAN: BLACK,
}


def titles(settings: Settings) -> dict[str, str]:
    """
    The conditions in words.
    """
    return {
        UNFILTERED: 'all turns',
        RANDOM: 'as many at random',
        FILTERED: f'filtered by {settings.scorer}',
        CONTROL: 'control tokens',
        CLEAN: 'perfect filter',
    }


def draw(results: Results, settings: Settings, path: Path) -> list[Path]:
    """
    Draw one panel for each measure, with a row for each condition and a mark for each
    way of decoding.

    :param path: the path without an ending; a PNG and an SVG file are written.
    :return: the paths of both.
    """
    judged = [m for m in measures(settings.judges) if m.name in settings.judges]
    chosen = [MADE_UP, NEW_WORDS, *judged, F1]
    names = titles(settings)
    with drawing() as figure_of:
        height = 0.95 + 0.36 * len(settings.conditions)
        figure = figure_of(figsize=(TEXT, height))
        panels = figure.subplots(1, len(chosen), sharey=True, squeeze=False)[0]
        for axes, measure in zip(panels, chosen):
            _panel(axes, measure, results, settings)
        panels[0].set_yticks(
            range(len(settings.conditions)), [names[c] for c in settings.conditions]
        )
        panels[0].set_ylim(len(settings.conditions) - 0.5, -0.5)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc='outside lower center', ncols=len(WAYS))
        return save(figure, path)


def _panel(axes: Any, measure: Measure, results: Results, settings: Settings) -> None:
    base = results.means[UNFILTERED, WAYS[0], measure.name].mean
    axes.axvline(base, color=GREY, linewidth=0.7, linestyle=':')
    for w, way in enumerate(WAYS):
        for row, condition in enumerate(settings.conditions):
            found = results.means[condition, way, measure.name]
            colour = COLOURS[condition]
            axes.errorbar(
                found.mean,
                row + (w - (len(WAYS) - 1) / 2) * 0.34,
                xerr=[[found.mean - found.low], [found.high - found.mean]],
                fmt=MARKERS[w],
                color=colour,
                markerfacecolor=colour if w == 0 else 'white',
                markersize=4,
                elinewidth=1,
            )
        # Grey in the legend, because it explains the mark and not the condition.
        axes.plot(
            [],
            [],
            linestyle='none',
            marker=MARKERS[w],
            color=GREY,
            markerfacecolor=GREY if w == 0 else 'white',
            markersize=4,
            label=way,
        )
    if measure == MADE_UP:
        axes.set_xlim(left=0)
    axes.set_title(measure.title, loc='left', fontweight='bold')
    of = {F1: 'mean F1', NEW_WORDS: 'share of content words'}
    better = {'lower': '\n(lower is better)', 'higher': '\n(higher is better)'}
    axes.set_xlabel(
        of.get(measure, 'share of replies') + better.get(measure.better, '')
    )
    axes.grid(axis='x', color=GREY, alpha=0.2, linewidth=0.5)
    axes.tick_params(axis='y', length=0)
