"""
``parlai_q2 report``: a page of evidence from a file of scores, or from world logs.
"""

from pathlib import Path
from typing import Optional

import parlai.utils.logging as logging
from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script

from parlai_q2.errors import InputError, RecordError
from parlai_q2.report.entries import Entry
from parlai_q2.report.html import write_page
from parlai_q2.report.scored_file import read_scored_file

# Bad records named one by one; the rest are counted.
NAMED = 20


@register_script('report', aliases=[])
class ReportScript(ParlaiScript):
    """
    Write scores and their evidence as one HTML page.
    """

    @classmethod
    def setup_args(cls):
        parser = ParlaiParser(False, False, 'Write scores and their evidence as a page')
        parser.add_argument(
            'scores',
            nargs='?',
            default=None,
            help='what parlai_q2 score wrote, or world logs of eval_model in the '
            'conversations format',
        )
        parser.add_argument(
            '--infile', type=str, default=None, help='the same, as an option'
        )
        parser.add_argument(
            '--outfile',
            type=str,
            default=None,
            help="the page to write; default: the input's name with .html",
        )
        parser.add_argument(
            '--title',
            type=str,
            default=None,
            help="the page's title; default: the input's name",
        )
        return parser

    def run(self) -> Path:
        infile = self.opt.get('infile') or self.opt.get('scores')
        if not infile:
            raise InputError(
                'Which scores? Give a file: parlai_q2 report scores.jsonl '
                '--outfile report.html'
            )
        return report_file(Path(infile), self.opt.get('outfile'), self.opt.get('title'))


def report_file(
    infile: Path, outfile: Optional[str] = None, title: Optional[str] = None
) -> Path:
    """
    Write a file of scores as a page.

    :param infile: scored records or world logs, see
        :mod:`parlai_q2.report.scored_file`. Bad records are named and left out.
    :param outfile: the page to write; by default the input's name with ``.html``.
    :param title: the page's title; by default the input's name.
    :return: the page's path.
    :raises InputError: when the input cannot be read, or no record in it can be shown.
    """
    target = Path(outfile) if outfile else infile.with_suffix('.html')
    if target.resolve() == infile.resolve():
        raise InputError(f'The page would replace its input {infile}. Give --outfile.')
    entries: list[Entry] = []
    bad = 0
    for entry in read_scored_file(infile):
        if isinstance(entry, RecordError):
            bad += 1
            if bad <= NAMED:
                logging.warning(f'Left out: {entry}')
        else:
            entries.append(entry)
    if bad > NAMED:
        logging.warning(f'Left out {bad - NAMED} more records.')
    if not entries:
        raise InputError(
            f'None of the {bad} records in {infile} can be shown; see the warnings '
            'above.'
        )
    try:
        page = write_page(entries, target, title or infile.name)
    except OSError as e:
        raise InputError(
            f'Cannot write {target}: {e.strerror}. Choose another --outfile.'
        ) from e
    left_out = f', {bad} left out' if bad else ''
    logging.info(f'Wrote {page}: {len(entries)} responses{left_out}.')
    return page
