"""
Writes the tables and figures of ``meta_eval`` or ``calibrate`` as one self-contained
HTML page, which loads nothing and has no script.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from parlai_q2.figures.style import data_address
from parlai_q2.io.write import write_text
from parlai_q2.report.page import render
from parlai_q2.tables import PAPER, Table
from parlai_q2.text.visible import one_line


@dataclass(frozen=True)
class PageSection:
    """
    A part of a page.

    :param figures: SVG files; each is shown with what its name says after ``prefix``.
    :param signatures: how the numbers can be reproduced, by name.
    """

    title: str
    tables: Sequence[Table] = ()
    figures: Sequence[Path] = ()
    signatures: Sequence[tuple[str, str]] = ()
    prefix: str = ''


# What a figure shows, by what its file's name begins with.
CAPTIONS = {
    'precision_recall': 'Precision against recall',
    'roc': 'ROC: responses found against false alarms',
    'curves': 'ROC, and precision against recall',
    'reliability': 'Reliability: is a value a probability?',
    'histograms': 'Scores by class',
    'by_': 'Scores by {rest}',
    'choices': 'What choosing changes',
    'generators_': 'F1 by generator, {rest}',
    'generators': 'Factual correctness and hallucination by generator',
}


def caption(path: Path, prefix: str) -> str:
    """What a figure's file shows, from its name."""
    name = path.stem.removeprefix(prefix)
    for start, text in CAPTIONS.items():
        if name.startswith(start):
            return text.format(rest=name.removeprefix(start).replace('_', ' '))
    return name.replace('_', ' ')


def write_measured(
    sections: Sequence[PageSection], path: Path, title: str, lead: str = ''
) -> Path:
    """
    Write the page, completely or not at all.

    :param lead: a sentence below the title.
    :raises InputError: when it cannot be written.
    """
    page = render(
        'measured.html',
        ['page.css', 'measured.css'],
        [],
        title=one_line(title),
        lead=lead,
        sections=list(map(_convert, sections)),
        paper=PAPER,
    )
    write_text(path, page)
    return path


def _convert(section: PageSection) -> dict[str, object]:
    figures = [
        (caption(figure, section.prefix), data_address(figure))
        for figure in section.figures
        if figure.suffix == '.svg'
    ]
    return {
        'title': section.title,
        'tables': section.tables,
        'figures': figures,
        'signatures': section.signatures,
    }
