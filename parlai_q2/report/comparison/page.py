"""
Writes a self-contained HTML page that compares two runs over the same responses: which
scores changed, and why.

Like the page of one run (:mod:`parlai_q2.report.html`), it loads nothing, runs nothing
from a response, and is drawn a screenful at a time.
"""

from html import escape
from pathlib import Path
from typing import Any, Optional, Sequence, Union

from parlai_q2.errors import InputError
from parlai_q2.io.write import write_text
from parlai_q2.report.comparison.change import BINS, change_of
from parlai_q2.report.comparison.chart import draw_differences
from parlai_q2.report.comparison.figures import (
    TwoRunFigures,
    different_settings,
    signatures_of,
)
from parlai_q2.report.comparison.pairing import Pairing, pair_up
from parlai_q2.report.entries import Entry
from parlai_q2.report.html import figure_row, signature_list, three
from parlai_q2.report.page import TABLE, TABLE_SCRIPTS, embed, fill_page, resource
from parlai_q2.report.visible import one_line

SCRIPTS = (
    'marks.js',
    'evidence.js',
    *TABLE_SCRIPTS,
    'comparison/changes.js',
)
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

    :param before: entries of the first run, see
        :func:`parlai_q2.report.entries.read_entry`.
    :param after: entries of the second run.
    :param path: the page's file. Its folder is created if needed; the file is replaced
        completely or not at all.
    :param title: the page's title.
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
    page = render_comparison(
        pairing,
        one_line(title),
        (one_line(names[0]), one_line(names[1])),
        (signatures_of(before), signatures_of(after)),
    )
    path = Path(path)
    write_text(path, page)
    return path


def render_comparison(
    pairing: Pairing,
    title: str,
    names: tuple[str, str],
    signatures: tuple[list[str], list[str]],
) -> str:
    """
    Render the page as a string.

    :param pairing: the responses in both runs, at least one.
    :param title: the page's title.
    :param names: the names of the runs.
    :param signatures: how the scores of each run were made.
    """
    changes = [change_of(*pair) for pair in pairing.pairs]
    figures = TwoRunFigures()
    for change in changes:
        figures.add(change)
    return fill_page(
        'comparison/compare.html',
        'page-of-two',
        ['page.css', 'comparison/compare.css'],
        SCRIPTS,
        {
            'title': escape(title),
            'summary': escape(_summary(figures, names)),
            'figures': _figure_list(figures, pairing),
            'chart': _chart(figures),
            'labels': _label_table(figures),
            'classes': _class_table(figures),
            'warning': _warning(figures, signatures),
            'recipe': _recipe(names, signatures),
            'table': resource(TABLE),
            'data': embed(_data(changes, names, signatures)),
        },
    )


def _data(
    changes: list[dict[str, Any]],
    names: tuple[str, str],
    signatures: tuple[list[str], list[str]],
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
    count = figures.after.count
    moved = figures.higher + figures.lower
    responses = f'{count:,} {"response" if count == 1 else "responses"}'
    return (
        f'{names[0]} → {names[1]}: {responses} in both, {moved:,} with a '
        f'different score, {figures.flips:,} with a different label'
    )


def _figure_list(figures: TwoRunFigures, pairing: Pairing) -> str:
    """
    The overall figures as a description list.
    """
    count = figures.after.count
    interval = figures.interval()
    assert interval is not None
    low, high = signed(interval.low), signed(interval.high)
    means = f'{three(figures.before.value)} \u2192 {three(figures.after.value)}'
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
    return '\n'.join(figure_row(*row) for row in rows)


def _chart(figures: TwoRunFigures) -> str:
    drawn = draw_differences(figures)
    if not drawn:
        return '<p class="note">No scores differ.</p>'
    return (
        f'<figure>\n{drawn}\n<figcaption>Responses by score difference: '
        '<span class="key inconsistent">lower</span> '
        '<span class="key consistent">higher</span></figcaption>\n</figure>'
    )


def _label_table(figures: TwoRunFigures) -> str:
    """
    How many responses had which label before and after.
    """
    olds = sorted({old for old, _ in figures.labels})
    news = sorted({new for _, new in figures.labels})
    head = ''.join(f'<th scope="col">{_words(new)}</th>' for new in news)
    rows = ''
    for old in olds:
        cells = ''
        for new in news:
            number = figures.labels.get((old, new), 0)
            kind = ' class="flip"' if number and old != new else ''
            cells += f'<td{kind}>{number:,}</td>'
        rows += f'<tr><th scope="row">{_words(old)}</th>{cells}</tr>'
    return (
        '<table class="classes labels"><caption>Labels: before by row, after by column'
        f'</caption><thead><tr><td></td>{head}</tr></thead><tbody>{rows}</tbody>'
        '</table>'
    )


def _class_table(figures: TwoRunFigures) -> str:
    """
    Mean scores by human class; empty without classes.
    """
    if not figures.classes:
        return ''
    rows = ''.join(
        f'<tr><th scope="row">{escape(name)}</th><td>{old.count:,}</td>'
        f'<td>{three(old.value)}</td><td>{three(new.value)}</td></tr>'
        for name, (old, new) in sorted(figures.classes.items())
    )
    return (
        '<table class="classes"><caption>Mean score by human annotation</caption>'
        '<thead><tr><th scope="col">Class</th><th scope="col">Responses</th>'
        '<th scope="col">Before</th><th scope="col">After</th></tr></thead>'
        f'<tbody>{rows}</tbody></table>'
    )


def _warning(figures: TwoRunFigures, signatures: tuple[list[str], list[str]]) -> str:
    """
    A warning where scores differ although the signatures are the same; otherwise empty.
    """
    moved = figures.higher + figures.lower
    if not moved or signatures[0] != signatures[1] or len(signatures[0]) != 1:
        return ''
    return (
        f'<p class="warning">Both runs have the same signature, yet {moved:,} '
        f'{"score differs" if moved == 1 else "scores differ"}: something that '
        'decides scores has changed without being part of the signature, such as '
        'code or a model behind a name.</p>'
    )


def _recipe(names: tuple[str, str], signatures: tuple[list[str], list[str]]) -> str:
    """
    Both runs' signatures, and the settings in which they differ.
    """
    parts = []
    for name, found in zip(names, signatures, strict=True):
        shown = (
            signature_list(found) or '<p class="note">No signature was recorded.</p>'
        )
        parts.append(f'<h3 dir="auto">{escape(name)}</h3>{shown}')
        if len(found) > 1:
            parts.append(
                '<p class="warning">The scores of this run have different signatures: '
                'they were not made in the same way.</p>'
            )
    if all(len(found) == 1 for found in signatures):
        parts.append(_settings_table(signatures[0][0], signatures[1][0]))
    return ''.join(parts)


def _settings_table(before: str, after: str) -> str:
    rows = different_settings(before, after)
    if not rows:
        return '<p class="note">Both runs were made in the same way.</p>'
    cells = ''.join(
        f'<tr><th scope="row">{escape(name)}</th><td>{_code(old)}</td>'
        f'<td>{_code(new)}</td></tr>'
        for name, old, new in rows
    )
    return (
        '<table class="classes settings"><caption>Where they differ</caption><thead>'
        '<tr><th scope="col">Setting</th><th scope="col">Before</th>'
        f'<th scope="col">After</th></tr></thead><tbody>{cells}</tbody></table>'
    )


def _code(value: str) -> str:
    return f'<code>{escape(value)}</code>' if value else '\u2013'


def _words(label: str) -> str:
    return escape(label.replace('_', ' '))


def signed(value: Optional[float]) -> str:
    """
    A difference to three digits, with its sign as it is typeset.
    """
    if value is None:
        return ''
    text = f'{value:+.3f}'
    return '0.000' if text in ('+0.000', '-0.000') else text.replace('-', '\u2212')
