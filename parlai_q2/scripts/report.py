"""
``parlai_q2 report``: writes a page of evidence from a file of scores, of reranked pools
or of world logs; or a page that compares two such files.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from parlai_q2.cli import log
from parlai_q2.cli.parser import local_path
from parlai_q2.errors import ConfigError, InputError, RecordError
from parlai_q2.io.fields import read_fields
from parlai_q2.io.files import Location, locate, shards_in
from parlai_q2.io.write import ANOTHER, as_write_error
from parlai_q2.options import OptionParser, Options, split_names
from parlai_q2.report.comparison import write_comparison
from parlai_q2.report.entries import Entry
from parlai_q2.report.overview import measure_group
from parlai_q2.report.page import (
    count_noun,
    describe_agreement,
    describe_rate,
    write_page,
)
from parlai_q2.report.scored_file import read_scored_file


def add_options(parser: OptionParser) -> None:
    parser.add_argument(
        'scores',
        nargs='?',
        help='a file or folder that parlai_q2 score or parlai_q2 rerank wrote, or '
        'world logs of eval_model in the conversations format',
    )
    parser.add_argument(
        'other', nargs='?', help='a second such file, to compare with the first'
    )
    parser.add_argument(
        '--outfile',
        help="the page to write; default: the input's name with .html, or for "
        'two inputs FIRST_to_SECOND.html beside the second',
    )
    parser.add_argument(
        '--fields',
        help="the field with a person's label, as label=NAME; default: label "
        '(given_label in the output of parlai_q2 score) or q2_label '
        '(tasks)',
    )
    parser.add_argument(
        '--by',
        help='comma-separated fields of the records, such as system; the page '
        'breaks the figures down by each',
    )


def run(opt: Options) -> Path:
    """Write the page that options ask for. Bad records are logged and left out."""
    infiles = [locate(name) for name in (opt['scores'], opt['other']) if name]
    if not infiles:
        raise InputError(
            'Which scores? Give a file: parlai_q2 report scores.jsonl '
            '--outfile report.html'
        )
    titles = [os.path.basename(os.path.abspath(str(infile))) for infile in infiles]
    stem = '_to_'.join(Path(title).stem for title in titles)
    # The output is beside the input, or in the current folder for an input from a URL.
    last = infiles[-1]
    folder = last.parent if isinstance(last, Path) else Path()
    outfile = local_path(str(opt['outfile'] or folder / f'{stem}.html'), 'outfile')
    for infile in infiles:
        shards = shards_in(infile) if infile.is_dir() else ()
        if outfile.resolve() in {f.resolve() for f in (infile, *shards)}:
            raise InputError(
                f'The page would overwrite its input {infile}. Choose another '
                '--outfile.'
            )
    names = read_fields(opt['fields'])
    label = names.pop('label', '')
    if names:
        raise ConfigError(f'--fields of report takes only label=NAME, not {names}.')
    fields = split_names(opt['by'])
    if fields and len(infiles) > 1:
        raise ConfigError('--by breaks down the figures of one file. Give one.')
    runs = [_read(infile, label, fields) for infile in infiles]
    with as_write_error(outfile, ANOTHER):
        if len(runs) == 1:
            write_page(runs[0], outfile, '', titles[0], fields)
            whole = measure_group('all', runs[0])
            log.info(f'{sentence(describe_rate(whole))}')
            if whole.agreement:
                log.info(sentence(describe_agreement(whole.agreement)))
        else:
            same = titles[0] == titles[1]
            before, after = map(str, infiles) if same else titles
            write_comparison(runs[0], runs[1], outfile, (before, after))
    counts = ' and '.join(count_noun(len(entries), 'response') for entries in runs)
    log.info(f'Wrote {outfile}: {counts}.')
    return outfile


def sentence(text: str) -> str:
    return f'{text[0].upper()}{text[1:]}.'


def _read(infile: Location, label: str, fields: Sequence[str]) -> list[Entry]:
    """Read a file's entries, at least one, and count the records left out."""
    entries: list[Entry] = []
    left_out = log.Problems('Left out')
    for entry in read_scored_file(infile, label, fields):
        if isinstance(entry, RecordError):
            left_out.add(entry)
        else:
            entries.append(entry)
    if not entries:
        raise InputError(
            f'None of the {left_out.count} records in {infile} can be shown; see the '
            'errors above.'
        )
    for name in fields:
        if not any(entry['fields'][name] for entry in entries):
            raise InputError(
                f'No record in {infile} has a value in the field {name!r}, by which '
                'the figures are to be broken down. Check --by.'
            )
    if label and not any(entry['class'] for entry in entries):
        raise InputError(
            f'No record in {infile} has a label in the field {label!r}. Check --fields.'
        )
    return entries
