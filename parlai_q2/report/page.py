"""
Writes scored records, or the tables and figures of ``meta_eval`` and ``calibrate``, as
one self-contained HTML page.

The page loads nothing: style, script and data are inside it. Its content security
policy allows its style and its script by their hashes, so nothing in a response can
run, wherever it ends up in the page. The same records give the same bytes.
"""

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from statistics import fmean

from jinja2 import Environment, FunctionLoader, StrictUndefined

from parlai_q2.decimals import percent
from parlai_q2.errors import InputError
from parlai_q2.figures.style import data_address
from parlai_q2.io.write import write_text
from parlai_q2.report.entries import Entry, read_entry
from parlai_q2.report.overview import (
    Agreement,
    Group,
    Overview,
    break_down,
    score_chart,
)
from parlai_q2.rerank.choice import MIN_RELEVANCE
from parlai_q2.signature import Signature, assumed
from parlai_q2.tables import PAPER, Table
from parlai_q2.text.visible import one_line

# The scripts of a table, and of this page; each after those that it builds on.
TABLE_SCRIPTS = ('address.js', 'table.js')
SCRIPTS = ('marks.js', 'evidence.js', 'detail.js', *TABLE_SCRIPTS, 'responses.js')
DEFAULT_TITLE = 'Groundedness report'
# What would end or confuse a script element, or a line of a script.
_JSON_ESCAPES = {ord(c): f'\\u{ord(c):04x}' for c in '<>&\u2028\u2029'}

# Name, value, and a note on what it covers.
Row = tuple[str, str, str]


def write_report(
    records: Iterable[Mapping[str, object]],
    path: str | Path,
    title: str = DEFAULT_TITLE,
) -> Path:
    """
    Write scored records as a page.

    :param records: scored records, see :mod:`parlai_q2.report.entries`.
    :param path: the page's file, which is replaced completely or not at all.
    :return: the page's path.
    :raises InputError: when a record cannot be shown, or there are no records.
    """
    entries = []
    for place, record in enumerate(records, start=1):
        try:
            entries.append(read_entry(record, place))
        except InputError as e:
            raise InputError(f'record {place}: {e}') from e
    return write_page(entries, path, title)


def write_page(
    entries: list[Entry],
    path: str | Path,
    title: str,
    source: str = '',
    fields: Sequence[str] = (),
) -> Path:
    """
    Like :func:`write_report`, for entries that have already been read. An empty title
    becomes what was judged, and by which scorer; the figures are also broken down by
    fields.
    """
    if not entries:
        raise InputError(
            'There are no scored records to report. Score some first: '
            'parlai_q2 score --infile pairs.jsonl --outfile scores.jsonl'
        )
    overview = Overview(entries)
    signatures = overview.signatures
    title = title or default_title(overview)
    data = {'signatures': signatures, 'entries': index_signatures(entries, signatures)}
    page = render(
        'responses.html',
        ['page.css'],
        SCRIPTS,
        title=one_line(title),
        summary=_summary(overview) + (f', from {one_line(source)}' if source else ''),
        overview=_overview_rows(overview),
        breakdowns=[(name, *_breakdown(break_down(entries, name))) for name in fields],
        classes=[
            (name, f'{len(scores):,}', three_digits(fmean(scores)))
            for name, scores in sorted(overview.classes.items())
        ],
        chart=score_chart(overview),
        signatures=signatures,
        mixed=len(signatures) > 1,
        data=embed(data),
    )
    write_text(Path(path), page)
    return Path(path)


def render(
    template: str, styles: Sequence[str], scripts: Sequence[str], **values: object
) -> str:
    """
    Fill a page's template; its styles become one, and its scripts too. All values are
    escaped but the data of :func:`embed`.
    """
    style, script = ('\n'.join(map(resource, files)) for files in (styles, scripts))
    hashes = {'style_hash': _hash(style), 'script_hash': _hash(script)}
    page = _templates().get_template(template)
    return page.render(style=style, script=script, **hashes, **values)


def render_chat(model: str) -> str:
    """Render the page of a chat, which connects only to the server it came from."""
    scripts = ('marks.js', 'evidence.js', 'chat.js')
    title = one_line(f'Chat with {model}')
    return render('chat.html', ['page.css', 'chat.css'], scripts, title=title)


def embed(data: object) -> str:
    """Data as JSON that is safe inside a script element."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(',', ':'))
    return text.translate(_JSON_ESCAPES)


def resource(name: str) -> str:
    place = resources.files('parlai_q2.report').joinpath('pages', name)
    return place.read_text(encoding='utf-8')


def three_digits(value: float) -> str:
    return f'{value:.3f}'


@lru_cache(maxsize=1)
def _templates() -> Environment:
    environment = Environment(
        loader=FunctionLoader(resource),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters['assumed'] = _assumed
    return environment


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode('utf-8')).digest()
    return f'sha256-{base64.b64encode(digest).decode("ascii")}'


def _assumed(signature: str) -> str:
    prior = str(Signature.from_text(signature).settings.get('prior', ''))
    return assumed(float(prior)) if re.fullmatch(r'[0-9.]+', prior) else ''


def index_signatures(entries: Sequence[Entry], signatures: list[str]) -> list[Entry]:
    """Entries that refer to signatures by index, since most share one; -1 for none."""
    places = {signature: place for place, signature in enumerate(signatures)}
    indexed = []
    for entry in entries:
        visible_entry = {k: v for k, v in entry.items() if k != 'fields'}
        visible_entry['signature'] = places.get(entry['signature'], -1)
        indexed.append(visible_entry)
    return indexed


def default_title(overview: Overview) -> str:
    """What was judged, and by which scorer: ``12 responses judged by q2``."""
    names = {Signature.from_text(text).scorer for text in overview.signatures}
    text = count_noun(overview.count, 'response')
    if not names:
        return f'Scores of {text}'
    return f'{text} judged by {names.pop() if len(names) == 1 else "several scorers"}'


def count_noun(count: int, noun: str) -> str:
    """A count with its noun: ``1 response``, ``1,200 responses``."""
    return f'{count:,} {noun}{"" if count == 1 else "s"}'


def _summary(overview: Overview) -> str:
    text = count_noun(overview.count, 'response')
    if overview.reranked:
        text += f', {overview.reranked:,} of them chosen from candidates'
    return text


def describe_agreement(agreement: Agreement) -> str:
    left_out = f', {agreement.left_out:,} left out' if agreement.left_out else ''
    return (
        f'accuracy {agreement.accuracy}, AUC {agreement.auc or "not defined"}, of '
        f'{agreement.count:,} with a verdict from a person and the scorer{left_out}'
    )


def describe_rate(group: Group) -> str:
    if group.rate is None:
        return 'none of the responses is verifiable'
    left_out = group.count - group.verifiable
    return (
        f'{group.rate.in_percent} of the {group.verifiable:,} verifiable '
        f'responses are consistent; {left_out:,} left out as generic or not verifiable'
    )


def _rate_rows(group: Group) -> list[Row]:
    left_out = group.count - group.verifiable
    note = f'of {group.verifiable:,} verifiable responses, 95 % interval'
    if left_out:
        note += f'; {left_out:,} left out as generic or not verifiable'
    rate = group.rate.in_percent if group.rate else 'none'
    rows = [('Consistent rate', rate, note)]
    if group.agreement:
        agreement = group.agreement
        note = f'of {agreement.count:,} responses that a person judged too'
        if agreement.left_out:
            note += f'; {agreement.left_out:,} generic or not verifiable left out'
        rows.append(('Accuracy', str(agreement.accuracy), note))
        if agreement.auc:
            rows.append(('AUC', str(agreement.auc), 'of the same responses'))
    return rows


def _breakdown(groups: Sequence[Group]) -> tuple[list[str], list[list[str]]]:
    """The headings and the rows of a table with one row for each group."""
    heads = ['Value', 'Responses', 'Verifiable', 'Consistent rate', 'Mean score']
    labelled = any(group.agreement for group in groups)
    heads += ['Accuracy', 'AUC'] if labelled else []
    rows = []
    for group in groups:
        rate = group.rate.in_percent if group.rate else '-'
        row = [one_line(group.name), f'{group.count:,}', f'{group.verifiable:,}']
        row += [rate, three_digits(group.score)]
        if labelled:
            agreement = group.agreement
            row.append(str(agreement.accuracy) if agreement else '-')
            row.append(str(agreement.auc) if agreement and agreement.auc else '-')
        rows.append(row)
    return heads, rows


def _overview_rows(overview: Overview) -> list[Row]:
    count = overview.count
    rows = _rate_rows(overview.whole)
    rows.append(
        ('Mean score', three_digits(overview.whole.score), 'of all; 1 means grounded')
    )
    for label, number in sorted(overview.labels.items()):
        name = label.replace('_', ' ').capitalize()
        rows.append((name, percent(number / count), f'{number:,} of {count:,}'))
    if overview.questions:
        share = f'for {percent(overview.with_questions / count)} of the responses'
        rows.append(('Questions', f'{overview.questions:,}', share))
        unanswered = percent(overview.unanswered / overview.questions)
        rows.append(('No answer', unanswered, 'of the questions'))
    if overview.fallbacks:
        rows.append(('Fallback', f'{overview.fallbacks:,}', 'without a valid question'))
    if overview.first_and_chosen:
        before, after = map(three_digits, overview.first_and_chosen)
        changed = f'{overview.changed:,} of {overview.reranked:,} changed'
        note = f'mean score of {overview.judged:,} with a verdict; {changed}'
        rows.append(('Reranked', f'{before} \u2192 {after}', note))
    if overview.relevances:
        read = len(overview.relevances)
        at_least = f'relevance of at least {MIN_RELEVANCE:g}'
        note = f'{overview.answers:,} of {read:,} chosen: {at_least}'
        rows.append(('Answers the turn', percent(overview.answers / read), note))
    if overview.abstained:
        turns = overview.reranked + overview.abstained
        share = percent(overview.abstained / turns)
        note = f'{overview.abstained:,} of {turns:,} with candidates'
        rows.append(('Abstained', share, note))
    return rows


@dataclass(frozen=True)
class PageSection:
    """
    A part of a page: tables; files of figures, of which those of SVG are shown, each
    with what its name says after ``prefix``; and signatures by name, which say how the
    numbers can be reproduced.
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
    """Write the page, with a sentence below its title, completely or not at all."""
    page = render(
        'measured.html',
        ['page.css', 'measured.css'],
        [],
        title=one_line(title),
        lead=lead,
        sections=sections,
        caption=caption,
        address=data_address,
        paper=PAPER,
    )
    write_text(path, page)
    return path
