"""
``parlai_q2 report``: writes a page of evidence from a file of scores, of reranked pools
or of world logs; or a page that compares two such files.
"""

from pathlib import Path
from typing import Any, Mapping, Optional

from parlai_q2.cli import log
from parlai_q2.errors import InputError, RecordError
from parlai_q2.io.write import ANOTHER, writing
from parlai_q2.report.comparison import write_comparison
from parlai_q2.report.entries import Entry
from parlai_q2.report.page import write_page
from parlai_q2.report.scored_file import read_scored_file

# How many bad records are named one by one; the rest are only counted.
NAMED = 20


def add_options(parser: Any) -> None:
    """Add the command's options."""
    parser.add_argument(
        'scores',
        nargs='?',
        help='file that parlai_q2 score or parlai_q2 rerank wrote, or world logs of '
        'eval_model in the conversations format',
    )
    parser.add_argument(
        'other',
        nargs='?',
        help='a second such file: the page then shows what changed from the first to '
        'the second',
    )
    parser.add_argument(
        '--outfile',
        help="the page to write; default: the input's name with .html, or, for two "
        'inputs, FIRST_to_SECOND.html beside the second',
    )
    parser.add_argument('--title', help="the page's title; default: the input's name")


def run(opt: Mapping[str, Any]) -> Path:
    """
    Write the page that options ask for.

    :return: its path.
    """
    if not opt['scores']:
        raise InputError(
            'Which scores? Give a file: parlai_q2 report scores.jsonl '
            '--outfile report.html'
        )
    infile, outfile, title = Path(opt['scores']), opt['outfile'], opt['title']
    if opt['other']:
        return compare_files(infile, Path(opt['other']), outfile, title)
    return report_file(infile, outfile, title)


def report_file(
    infile: Path, outfile: Optional[str] = None, title: Optional[str] = None
) -> Path:
    """
    Write a file of scores as a page.

    :param infile: scored records, reranked pools or world logs, see
        :mod:`parlai_q2.report.scored_file`. Bad records are logged and left out.
    :param outfile: the page to write; by default the input's name with ``.html``.
    :param title: the page's title; by default the input's name.
    :return: the page's path.
    :raises InputError: when the input cannot be read, or no record in it can be shown.
    """
    target = _target(outfile, infile.with_suffix('.html'), infile)
    entries, bad = _read(infile)
    with writing(target, ANOTHER):
        page = write_page(entries, target, title or infile.name)
    left_out = f', {bad} left out' if bad else ''
    log.info(f'Wrote {page}: {len(entries)} responses{left_out}.')
    return page


def compare_files(
    before: Path,
    after: Path,
    outfile: Optional[str] = None,
    title: Optional[str] = None,
) -> Path:
    """
    Write a page that shows what changed between two files of scores.

    :param before: the first run's scored records or world logs.
    :param after: the second run's scored records or world logs.
    :param outfile: the page to write; by default ``BEFORE_to_AFTER.html`` beside the
        second file.
    :param title: the page's title; by default both names.
    :return: the page's path.
    :raises InputError: when an input cannot be read, or they have no response in
        common.
    """
    beside = after.with_name(f'{before.stem}_to_{after.stem}.html')
    target = _target(outfile, beside, before, after)
    (old, bad_old), (new, bad_new) = _read(before), _read(after)
    names = before.name, after.name
    if before.name == after.name:
        names = str(before), str(after)
    with writing(target, ANOTHER):
        page = write_comparison(
            old, new, target, title or f'{names[0]} and {names[1]}', names
        )
    bad = bad_old + bad_new
    left_out = f', {bad} left out' if bad else ''
    log.info(f'Wrote {page}: {len(old)} and {len(new)} responses compared{left_out}.')
    return page


def _target(outfile: Optional[str], default: Path, *inputs: Path) -> Path:
    target = Path(outfile) if outfile else default
    for infile in inputs:
        if target.resolve() == infile.resolve():
            raise InputError(
                f'The page would overwrite its input {infile}. Choose another '
                '--outfile.'
            )
    return target


def _read(infile: Path) -> tuple[list[Entry], int]:
    """Read a file's entries, at least one, and count the records left out."""
    entries: list[Entry] = []
    bad = 0
    for entry in read_scored_file(infile):
        if isinstance(entry, RecordError):
            bad += 1
            if bad <= NAMED:
                log.warning(f'Left out: {entry}')
        else:
            entries.append(entry)
    if bad > NAMED:
        log.warning(f'Left out {bad - NAMED} more records.')
    if not entries:
        raise InputError(
            f'None of the {bad} records in {infile} can be shown; see the warnings '
            'above.'
        )
    return entries, bad
