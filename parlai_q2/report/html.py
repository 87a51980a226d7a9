"""
Writes scored records as one self-contained HTML page.

The page loads nothing: style, script and data are inside it, and its content security
policy allows them by hash, so that nothing in a response can run. Overall figures are
plain HTML. The script draws the table of responses a screenful at a time, so that the
page stays fast with ten thousand records. The same records give the same bytes.
"""

from html import escape
from pathlib import Path
from typing import Any, Iterable, Mapping, Optional, Union

from parlai_q2.errors import InputError
from parlai_q2.io.write import write_text
from parlai_q2.report.entries import Entry, read_entry
from parlai_q2.report.figures import Figures
from parlai_q2.report.histogram import draw_histogram, histogram_key
from parlai_q2.report.page import TABLE, TABLE_SCRIPTS, embed, fill_page, resource
from parlai_q2.report.visible import one_line

# Each after those that it builds on.
SCRIPTS = (
    'marks.js',
    'evidence.js',
    'detail.js',
    *TABLE_SCRIPTS,
    'responses.js',
)

DEFAULT_TITLE = 'Groundedness report'


def write_report(
    records: Iterable[Mapping[str, Any]],
    path: Union[str, Path],
    title: str = DEFAULT_TITLE,
    signature: str = '',
) -> Path:
    """
    Write scored records as a page.

    :param records: scored records, see :mod:`parlai_q2.report.entries`.
    :param path: the page's file. Its folder is created if needed; the file is replaced
        completely or not at all.
    :param title: the page's title.
    :param signature: how the scores were made; by default, what the records say.
    :return: the page's path.
    :raises InputError: when a record cannot be shown, or there are no records.
    """
    entries = []
    for place, record in enumerate(records, start=1):
        try:
            entries.append(read_entry(record, place))
        except InputError as e:
            raise InputError(f'record {place}: {e}') from e
    return write_page(entries, path, title, signature)


def write_page(
    entries: list[Entry],
    path: Union[str, Path],
    title: str = DEFAULT_TITLE,
    signature: str = '',
) -> Path:
    """
    Like :func:`write_report`, for entries that have already been read.

    :raises InputError: when there are no entries.
    """
    if not entries:
        raise InputError(
            'There are no scored records to report. Score some first: '
            'parlai_q2 score --infile pairs.jsonl --outfile scores.jsonl'
        )
    path = Path(path)
    write_text(path, render_page(entries, one_line(title), one_line(signature)))
    return path


def render_page(entries: list[Entry], title: str, signature: str = '') -> str:
    """
    Render the page as a string.

    :param entries: what :func:`parlai_q2.report.entries.read_entry` returned; at least
        one.
    :param title: the page's title.
    :param signature: how the scores were made; by default, what the entries say.
    """
    figures = Figures()
    for entry in entries:
        figures.add(entry)
    signatures = list(figures.signatures)
    if signature and signature not in signatures:
        signatures.insert(0, signature)
    return fill_page(
        'page.html',
        'page-of-one',
        ['page.css'],
        SCRIPTS,
        {
            'title': escape(title),
            'summary': escape(_summary(figures)),
            'figures': _figure_list(figures),
            'classes': _class_table(figures),
            'histogram': draw_histogram(figures),
            'key': histogram_key(figures),
            'signatures': _signature_block(signatures, len(figures.signatures)),
            'table': resource(TABLE),
            'data': embed(_data(entries, signatures)),
        },
    )


def _data(entries: list[Entry], signatures: list[str]) -> dict[str, Any]:
    """
    The data that the script draws. Entries refer to signatures by index, since most
    share one.
    """
    places = {signature: place for place, signature in enumerate(signatures)}
    rows = [{**e, 'signature': places.get(e['signature'], -1)} for e in entries]
    return {'signatures': signatures, 'entries': rows}


def _summary(figures: Figures) -> str:
    count = figures.score.count
    text = f'{count:,} {"response" if count == 1 else "responses"}'
    if figures.reranked:
        text += f', {figures.reranked:,} of them chosen from several candidates'
    return text


def _figure_list(figures: Figures) -> str:
    """
    The overall figures as a description list.
    """
    count = figures.score.count
    rows: list[tuple[str, str, str]] = [
        ('Mean score', three(figures.score.value), '1 means grounded')
    ]
    for label, number in sorted(figures.labels.items()):
        name = label.replace('_', ' ').capitalize()
        rows.append((name, f'{number / count:.1%}', f'{number:,} of {count:,}'))
    if figures.questions:
        answered = figures.questions - figures.comparisons.get('no answer', 0)
        share = f'for {figures.with_questions / count:.1%} of the responses'
        rows.append(('Questions', f'{figures.questions:,}', share))
        unanswered = f'{1 - answered / figures.questions:.1%}'
        rows.append(('No answer', unanswered, 'of the questions'))
    if figures.fallbacks:
        rows.append(('Fallback', f'{figures.fallbacks:,}', 'without a valid question'))
    if figures.first.count:
        before, after = three(figures.first.value), three(figures.chosen.value)
        changed = f'{figures.changed:,} of {figures.reranked:,} changed'
        rows.append(('Reranked', f'{before} \u2192 {after}', f'mean score; {changed}'))
    return '\n'.join(figure_row(*row) for row in rows)


def figure_row(name: str, value: str, note: str) -> str:
    """
    One overall figure: its name, its value, and a note on what it covers.
    """
    return (
        f'<div><dt>{escape(name)}</dt><dd><b>{escape(value)}</b> '
        f'<span>{escape(note)}</span></dd></div>'
    )


def _class_table(figures: Figures) -> str:
    """
    Mean scores by human class; empty without classes.
    """
    if not figures.classes:
        return ''
    rows = ''.join(
        f'<tr><th scope="row">{escape(name)}</th><td>{mean.count:,}</td>'
        f'<td>{three(mean.value)}</td></tr>'
        for name, mean in sorted(figures.classes.items())
    )
    return (
        '<table class="classes"><caption>By human annotation</caption><thead><tr>'
        '<th scope="col">Class</th><th scope="col">Responses</th>'
        f'<th scope="col">Mean score</th></tr></thead><tbody>{rows}</tbody></table>'
    )


def _signature_block(signatures: list[str], different: int) -> str:
    if not signatures:
        return ''
    warning = ''
    if different > 1:
        warning = (
            '<p class="warning">These scores have different signatures: they were not '
            'made in the same way and cannot be compared.</p>'
        )
    return f'{warning}{signature_list(signatures)}'


def signature_list(signatures: list[str]) -> str:
    """
    Signatures as a list; an empty string for none.
    """
    codes = ''.join(f'<li><code>{escape(s)}</code></li>' for s in signatures)
    return f'<ul class="signatures">{codes}</ul>' if codes else ''


def three(value: Optional[float]) -> str:
    """
    A number to three digits; an empty string for none.
    """
    return '' if value is None else f'{value:.3f}'
