"""
Writes a self-contained HTML page that compares two runs over the same responses: which
scores changed, and why. Like the page of one run (:mod:`parlai_q2.report.page`), it
loads nothing and runs nothing from a response.
"""

from pathlib import Path
from typing import Any, Sequence, Union

from parlai_q2.errors import InputError
from parlai_q2.io.write import write_text
from parlai_q2.report.changes import (
    BINS,
    Pairing,
    change_of,
    different_settings,
    pair_up,
    signatures_of,
)
from parlai_q2.report.entries import Entry
from parlai_q2.report.figures import TwoRunFigures, difference_chart
from parlai_q2.report.page import TABLE_SCRIPTS, Row, embed, render, three
from parlai_q2.text.visible import one_line

SCRIPTS = ('marks.js', 'evidence.js', *TABLE_SCRIPTS, 'changes.js')
DEFAULT_TITLE = 'Two runs compared'

# The signatures of two runs.
Both = tuple[list[str], list[str]]


def write_comparison(
    before: Sequence[Entry],
    after: Sequence[Entry],
    path: Union[str, Path],
    title: str = DEFAULT_TITLE,
    names: tuple[str, str] = ('before', 'after'),
) -> Path:
    """
    Write a page that compares two runs.

    :param path: the page's file. Its folder is created if needed; the file is replaced
        completely or not at all.
    :param names: the names of the runs.
    :return: the page's path.
    :raises InputError: when the runs have no response in common.
    """
    pairing = pair_up(before, after)
    if not pairing.pairs:
        same_id = (
            f' {pairing.other_text:,} ids are in both files, but with different texts.'
            if pairing.other_text
            else ''
        )
        raise InputError(
            f'{names[0]} ({len(before):,} responses) and {names[1]} '
            f'({len(after):,}) have no response in common: responses are matched '
            f'by text and knowledge.{same_id} Compare two scorings of the same '
            'responses.'
        )
    shown = one_line(names[0]), one_line(names[1])
    signatures = signatures_of(before), signatures_of(after)
    write_text(Path(path), _render(pairing, one_line(title), shown, signatures))
    return Path(path)


def _render(
    pairing: Pairing, title: str, names: tuple[str, str], signatures: Both
) -> str:
    changes = [change_of(*pair) for pair in pairing.pairs]
    figures = TwoRunFigures(changes)
    settings = None
    if all(len(found) == 1 for found in signatures):
        settings = different_settings(signatures[0][0], signatures[1][0])
    return render(
        'changes.html',
        ['page.css', 'changes.css'],
        SCRIPTS,
        title=title,
        summary=_summary(figures, names),
        figures=_figure_rows(figures, pairing),
        chart=difference_chart(figures),
        labels=figures.labels,
        labels_before=sorted({old for old, _ in figures.labels}),
        labels_after=sorted({new for _, new in figures.labels}),
        classes=[
            (name, f'{count:,}', three(before), three(after))
            for name, (count, before, after) in figures.classes.items()
        ],
        unexplained=_unexplained(figures, signatures),
        runs=list(zip(names, signatures, strict=True)),
        settings=settings,
        data=embed(_data(changes, names, signatures)),
    )


def _data(
    changes: list[dict[str, Any]], names: tuple[str, str], signatures: Both
) -> dict[str, Any]:
    """
    The data that the script draws. Entries refer to signatures by index, since most
    share one.
    """
    both = list(dict.fromkeys([*signatures[0], *signatures[1]]))
    places = {signature: place for place, signature in enumerate(both)}
    for change in changes:
        for side in ('before', 'after'):
            if side in change:
                entry = change[side]
                entry['signature'] = places.get(entry['signature'], -1)
    return {'names': names, 'signatures': both, 'bins': BINS, 'changes': changes}


def _summary(figures: TwoRunFigures, names: tuple[str, str]) -> str:
    count = figures.count
    moved = figures.higher + figures.lower
    responses = f'{count:,} {"response" if count == 1 else "responses"}'
    return (
        f'{names[0]} \u2192 {names[1]}: {responses} in both, {moved:,} with a '
        f'different score, {figures.flips:,} with a different label'
    )


def _figure_rows(figures: TwoRunFigures, pairing: Pairing) -> list[Row]:
    count = figures.count
    interval = figures.interval
    low, high = signed(interval.low), signed(interval.high)
    means = f'{three(figures.before)} \u2192 {three(figures.after)}'
    rows = [
        ('Mean score', means, '1 means grounded'),
        (
            'Mean difference',
            signed(interval.mean),
            f'95 % interval {low} to {high}, paired bootstrap',
        ),
        ('Other label', f'{figures.flips:,}', f'of {count:,}'),
        (
            'Higher and lower',
            f'{figures.higher:,} and {figures.lower:,}',
            f'of {count:,}',
        ),
    ]
    if pairing.only_before or pairing.only_after:
        note = f'{pairing.only_before:,} only before, {pairing.only_after:,} only after'
        if pairing.other_text:
            note += f'; {pairing.other_text:,} ids with different texts'
        both = pairing.only_before + pairing.only_after
        rows.append(('Not compared', f'{both:,}', note))
    return rows


def _unexplained(figures: TwoRunFigures, signatures: Both) -> int:
    """How many scores differ although the signatures are the same."""
    if signatures[0] != signatures[1] or len(signatures[0]) != 1:
        return 0
    return figures.higher + figures.lower


def signed(value: float) -> str:
    """A difference to three digits, with its sign as it is typeset."""
    text = f'{value:+.3f}'
    return '0.000' if text in ('+0.000', '-0.000') else text.replace('-', '\u2212')
