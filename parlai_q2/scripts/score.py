"""
``parlai_q2 score``: scores a file of responses against their knowledge.
"""

from itertools import islice
from pathlib import Path
from typing import Any, Iterator, Optional

import parlai.utils.logging as logging
from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script
from tqdm import tqdm

from parlai_q2.errors import InputError
from parlai_q2.files.read import FORMATS, Record, read_records
from parlai_q2.files.write import ResumableWriter
from parlai_q2.parlai_support.file_options import given_files
from parlai_q2.parlai_support.scorer_options import add_scorer_options, scorer_from_opt
from parlai_q2.records import Label, Score
from parlai_q2.scorers.base import Scorer

# Records in one call of the scorer, and lines in one write: what a kill can cost.
CHUNK = 64
# What a scored line has, and a bad one never.
SCORED = ('score', 'label', 'fallback', 'verdicts', 'parts', 'signature')


@register_script('score', aliases=['q2_score'])
class ScoreScript(ParlaiScript):
    """
    Score responses against their knowledge.
    """

    @classmethod
    def setup_args(cls):
        parser = ParlaiParser(True, False, 'Score responses against their knowledge')
        group = parser.add_argument_group('Scoring a file')
        group.add_argument(
            '--infile',
            type=str,
            default=None,
            help='records with knowledge, response and perhaps history and id; other '
            'fields pass through',
        )
        group.add_argument(
            '--outfile', type=str, default=None, help='JSON lines to write'
        )
        group.add_argument(
            '--format',
            choices=FORMATS,
            default=None,
            help="the input's format; default: by its ending",
        )
        group.add_argument(
            '--explain',
            type='bool',
            default=False,
            help='print each response with its evidence',
        )
        add_scorer_options(parser)
        return parser

    def run(self) -> dict[str, Any]:
        infile, outfile = given_files(self.opt)
        return score_file(
            infile,
            outfile,
            scorer_from_opt(self.opt),
            self.opt.get('format'),
            self.opt.get('explain', False),
        )


def score_file(
    infile: Path,
    outfile: Path,
    scorer: Scorer,
    format: Optional[str] = None,
    explain: bool = False,
) -> dict[str, Any]:
    """
    Score a file, going on with a run that was stopped.

    :param infile: what :func:`~parlai_q2.files.read.read_records` reads.
    :param outfile: gets one JSON line a record, in order: the record's fields, then
        ``score``, ``label``, ``fallback``, ``verdicts`` and ``parts``, or ``error``.
    :param scorer: what scores.
    :param format: the input's format, or None to go by its ending.
    :param explain: also print each response with its evidence.
    :return: the summary that is written beside the output.
    :raises InputError: when the input cannot be read, holds no record, or no record in
        it could be scored.
    """
    if not infile.is_file():
        raise InputError(f'There is no file {infile}. Check --infile.')
    state = infile.stat()
    run = {
        'signature': str(scorer.signature),
        'infile': str(infile.resolve()),
        'size': state.st_size,
        'modified': state.st_mtime_ns,
    }
    records = read_records(infile, format)
    writer = ResumableWriter(outfile, run)
    if writer.done:
        logging.info(f'Going on after the {writer.done} records already scored.')
    tally = Tally()
    try:
        with tqdm(desc=scorer.name, unit=' records', initial=writer.done) as bar:
            for _, line in zip(
                islice(records, writer.done), writer.lines(), strict=True
            ):
                tally.add(line)
            for chunk in chunks(records):
                lines = []
                for record, score in score_chunk(chunk, scorer):
                    lines.append(line_of(record, score, first=not tally.scored))
                    tally.add(lines[-1])
                    if explain and score is not None:
                        _explain(record, score)
                writer.write(lines)
                bar.update(len(chunk))
    except BaseException:
        writer.close()
        raise
    if not tally.records:
        writer.abandon()
        raise InputError(f'{infile} holds no record.')
    summary = {**run, **tally.summary()}
    writer.finish(summary)
    logging.info(f'Wrote {outfile}. {tally.sentence()}')
    logging.info(f'Signature: {run["signature"]}')
    return summary


def chunks(records: Iterator[Record]) -> Iterator[list[Record]]:
    """
    Records, so many at a time.
    """
    while True:
        chunk = list(islice(records, CHUNK))
        if not chunk:
            return
        yield chunk


def score_chunk(
    chunk: list[Record], scorer: Scorer
) -> Iterator[tuple[Record, Optional[Score]]]:
    """
    Each record with its score, or with None when it is bad; bad ones are logged.
    """
    scores = iter(scorer.score([r.example for r in chunk if r.example is not None]))
    for record in chunk:
        if record.error is not None:
            logging.error(f'Not scored: {record.error}')
            yield record, None
        else:
            yield record, next(scores)


def line_of(record: Record, score: Optional[Score], first: bool) -> dict[str, Any]:
    """
    What is written for a record; the first that is scored carries the signature.
    """
    if score is None:
        kept = {k: v for k, v in record.fields.items() if k not in SCORED}
        return {**kept, 'line': record.line, 'error': str(record.error)}
    fields = score.to_dict()
    signature = fields.pop('signature')
    return {**record.fields, **fields, **({'signature': signature} if first else {})}


class Tally:
    """
    Counts what a run scored.
    """

    def __init__(self):
        self.records = self.bad = 0
        self.labels = {
            Label.CONSISTENT: 0,
            Label.INCONSISTENT: 0,
            Label.NOT_VERIFIABLE: 0,
        }
        self.total = 0.0

    def add(self, line: dict[str, Any]) -> None:
        """
        Count one written line.
        """
        self.records += 1
        if 'label' not in line:
            self.bad += 1
        else:
            self.labels[line['label']] += 1
            self.total += line['score']

    @property
    def scored(self) -> int:
        """
        How many records have a score.
        """
        return self.records - self.bad

    def summary(self) -> dict[str, Any]:
        """
        The counts, and the mean score of what was scored in this run.
        """
        mean = self.total / self.scored if self.scored else None
        return {'records': self.records, 'bad': self.bad, 'mean': mean, **self.labels}

    def sentence(self) -> str:
        """
        The counts for people.
        """
        counts = ', '.join(f'{n} {label}' for label, n in self.labels.items())
        mean = f' Mean score {self.total / self.scored:.3f}.' if self.scored else ''
        bad = f' {self.bad} could not be scored; see their "error".' if self.bad else ''
        return f'{self.records} records: {counts}.{mean}{bad}'


def _explain(record: Record, score: Score) -> None:
    import sys

    from parlai_q2.report.terminal import render_score, use_colour

    assert record.example is not None
    text = render_score(
        score, record.example.response, record.example.knowledge, use_colour(sys.stdout)
    )
    tqdm.write(text)
