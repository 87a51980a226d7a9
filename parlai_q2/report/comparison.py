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
        other = pairing.other_text
        raise InputError(
            f'{names[0]} ({len(before):,} responses) and {names[1]} ({len(after):,}) '
            'have no response in common: responses are matched by text and knowledge.'
            + (f' {other:,} ids are in both, with different texts.' if other else '')
            + ' Compare two scorings of the same responses.'
        )
    names = one_line(names[0]), one_line(names[1])
    signatures = signatures_of(before), signatures_of(after)
    one_each = all(len(found) == 1 for found in signatures)
    changes = [change_of(*pair) for pair in pairing.pairs]
    figures = TwoRunFigures(changes)
    moved = figures.higher + figures.lower
    page = render(
        'changes.html',
        ['page.css', 'changes.css'],
        SCRIPTS,
        title=one_line(title),
        summary=_summary(figures, names),
        figures=_figure_rows(figures, pairing),
        chart=difference_chart(figures),
        labels=figures.labels,
        labels_before=sorted({old for old, _ in figures.labels}),
        labels_after=sorted({new for _, new in figures.labels}),
        classes=[
            (name, f'{count:,}', three(mean), three(later))
            for name, (count, mean, later) in figures.classes.items()
        ],
        # Scores that differ although the signatures are the same.
        unexplained=moved if one_each and signatures[0] == signatures[1] else 0,
        runs=list(zip(names, signatures, strict=True)),
        settings=different_settings(signatures[0][0], signatures[1][0])
        if one_each
        else None,
        data=embed(_data(changes, names, [*signatures[0], *signatures[1]])),
    )
    write_text(Path(path), page)
    return Path(path)


def _data(
    changes: list[dict[str, Any]], names: tuple[str, str], signatures: list[str]
) -> dict[str, Any]:
    """
    The data that the script draws. Entries refer to signatures by index, since most
    share one.
    """
    places = {name: place for place, name in enumerate(dict.fromkeys(signatures))}
    for change in changes:
        for side in ('before', 'after'):
            if entry := change.get(side):
                entry['signature'] = places.get(entry['signature'], -1)
    return {'names': names, 'signatures': [*places], 'bins': BINS, 'changes': changes}


def _summary(figures: TwoRunFigures, names: tuple[str, str]) -> str:
    count = figures.count
    moved = figures.higher + figures.lower
    responses = f'{count:,} {"response" if count == 1 else "responses"}'
    return (
        f'{names[0]} \u2192 {names[1]}: {responses} in both, {moved:,} with a '
        f'different score, {figures.flips:,} with a different label'
    )


def _figure_rows(figures: TwoRunFigures, pairing: Pairing) -> list[Row]:
    low, high = signed(figures.interval.low), signed(figures.interval.high)
    higher, lower = f'{figures.higher:,}', f'{figures.lower:,}'
    means = f'{three(figures.before)} \u2192 {three(figures.after)}'
    interval = f'95 % interval {low} to {high}, paired bootstrap'
    of_all = f'of {figures.count:,}'
    rows = [
        ('Mean score', means, '1 means grounded'),
        ('Mean difference', signed(figures.interval.mean), interval),
        ('Other label', f'{figures.flips:,}', of_all),
        ('Higher and lower', f'{higher} and {lower}', of_all),
    ]
    if left := pairing.only_before + pairing.only_after:
        note = f'{pairing.only_before:,} only before, {pairing.only_after:,} only after'
        if pairing.other_text:
            note += f'; {pairing.other_text:,} ids with different texts'
        rows.append(('Not compared', f'{left:,}', note))
    return rows


def signed(value: float) -> str:
    """A difference to three digits, with its sign as it is typeset."""
    text = f'{value:+.3f}'
    return '0.000' if text in ('+0.000', '-0.000') else text.replace('-', '\u2212')
