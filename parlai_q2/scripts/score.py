"""``parlai_q2 score``: scores a file of responses against their knowledge."""

import json
import shutil
import sys
from contextlib import closing
from pathlib import Path
from types import MappingProxyType
from typing import Any, Mapping, Optional

from tqdm import tqdm

from parlai_q2.claims import Score
from parlai_q2.cli import log
from parlai_q2.cli.files import given_files, tell_signature
from parlai_q2.cli.progress import Progress
from parlai_q2.cli.scale_options import (
    add_scale_options,
    chunk_size_from_opt,
    scale_from_opt,
)
from parlai_q2.cli.scorer_options import add_scorer_options
from parlai_q2.errors import InputError
from parlai_q2.io.chunks import CHUNK_RECORDS
from parlai_q2.io.fields import read_fields
from parlai_q2.io.read import FORMATS, example_of
from parlai_q2.io.write import ResumableWriter, encode_line, writable
from parlai_q2.scale.score_chunk import Engine, ScoredChunk, in_process
from parlai_q2.scale.work import Tally, chunks_of, go_on
from parlai_q2.scorers.base import Scorer


def add_options(parser: Any) -> None:
    """Add the command's options."""
    group = parser.add_argument_group('Scoring a file')
    group.add_argument(
        '--infile',
        help='file of records with knowledge, response and, optionally, history and '
        'id; other fields are copied to the output, where a label of your own '
        'becomes given_label',
    )
    group.add_argument('--outfile', help='JSON lines file to write')
    group.add_argument(
        '--fields',
        help="other names of fields in the input, such as 'history=question'",
    )
    group.add_argument(
        '--format',
        choices=FORMATS,
        help="the input's format; default: taken from the file's ending",
    )
    group.add_argument(
        '--show',
        nargs='?',
        type='bool',
        const=True,
        default=False,
        help='print each response with its evidence',
    )
    add_scorer_options(parser)
    add_scale_options(parser)


def run(opt: Mapping[str, Any]) -> dict[str, Any]:
    """Score the file that options name; return the summary written beside it."""
    infile, outfile = given_files(opt)
    chunk_size = chunk_size_from_opt(opt)
    check_regular(infile)
    writable(outfile, infile)
    scorer, engine = scale_from_opt(opt)
    form, show = opt['format'], opt['show']
    names = read_fields(opt['fields'])
    return score_file(infile, outfile, scorer, form, show, engine, chunk_size, names)


def check_regular(infile: Path) -> None:
    """Check that a file is there and can be read twice; else an InputError."""
    if not infile.exists():
        raise InputError(f'There is no file {infile}. Check --infile.')
    if not infile.is_file():
        raise InputError(
            f'{infile} is not a regular file. Save its contents to a file and give '
            'that as --infile: a run that was stopped has to read it again.'
        )


def score_file(
    infile: Path,
    outfile: Path,
    scorer: Scorer,
    format: Optional[str] = None,
    show: bool = False,
    engine: Optional[Engine] = None,
    chunk_size: int = CHUNK_RECORDS,
    names: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Any]:
    """
    Score a file, resuming a run that was stopped.

    :param infile: a file that :func:`~parlai_q2.io.read.read_records` can read.
    :param outfile: receives one JSON line for each record, in order: the record's
        fields, then ``score``, ``label``, ``fallback``, ``verdicts`` and ``parts``, or
        ``error``.
    :param scorer: the scorer; with an engine, one like the engine's scorers.
    :param format: the input's format, or None to infer it from the file's ending.
    :param show: whether to print each response with its evidence, too.
    :param engine: what scores chunks; by default the scorer, in this process.
    :param chunk_size: records in one call of the scorer.
    :param names: as for :func:`~parlai_q2.io.read.read_records`.
    :return: the summary that is written beside the output.
    :raises InputError: when the input cannot be read, has no record or changes during
        the run, or another run is writing this output.
    """
    check_regular(infile)
    state = state_of(infile)
    signature, place = str(scorer.signature), str(infile.resolve())
    run = {'signature': signature, 'infile': place, 'format': format, **state}
    if names:
        run['fields'] = dict(names)
    chunks = chunks_of(infile.resolve(), format, chunk_size, names)
    writer = ResumableWriter(outfile, run, infile)
    if writer.started_over:
        log.warning(
            f'The unfinished {writer.part} was made from another input or with '
            'another scorer. Starting over.'
        )
    tally, problems = Tally(), log.Named('Not scored')
    try:
        work = go_on(chunks, writer, tally)
        cut_short = work.cut_short
        if work.records:
            log.info(f'Continuing after the {work.records} records already scored.')
        bar = Progress(scorer.name, state['size'], 'records', work.records, work.read)
        engine = engine or in_process(scorer)
        with bar as progress, closing(engine(work.chunks)) as scored:
            for chunk in scored:
                lines = chunk.lines if tally.scored else sign(chunk, signature)
                writer.write_lines(lines)
                tally.add(chunk.outcomes, chunk.nulled)
                for problem in chunk.problems:
                    problems.add(problem)
                cut_short |= chunk.cut_short
                if show:
                    _show(lines)
                progress.update(len(chunk.outcomes), chunk.end)
        check_unchanged(infile, state)
    except BaseException:
        writer.close()
        raise
    if not tally.records:
        writer.abandon()
        raise InputError(f'{infile} has no records.')
    summary = {**run, **tally.summary()}
    writer.finish(summary)
    log.info(f'Wrote {outfile}. {tally.sentence()}')
    tell_signature(scorer, outfile)
    if cut_short:
        raise InputError(
            f'{infile} was not read to its end: see the last line of {outfile}.'
        )
    if not tally.scored:
        raise InputError(
            f'None of the {tally.records} records in {infile} could be scored. '
            f'{outfile} says what is wrong with each.'
        )
    return summary


def state_of(infile: Path) -> dict[str, int]:
    """The state of a file, from which a change can be recognised."""
    state = infile.stat()
    return {'size': state.st_size, 'modified': state.st_mtime_ns}


def check_unchanged(infile: Path, state: dict[str, int]) -> None:
    """Check that a file is as it was: else the output may mix two versions of it."""
    try:
        now = state_of(infile)
    except OSError:
        now = {}
    if now != state:
        raise InputError(
            f'{infile} changed while it was being read. Run the same command '
            'again once nothing writes to it any more; it will start over.'
        )


def sign(chunk: ScoredChunk, signature: str) -> bytes:
    """A chunk's lines, with the signature in the first one that has a score."""
    lines = chunk.lines.splitlines(keepends=True)
    for place, outcome in enumerate(chunk.outcomes):
        if outcome is not None:
            first = {**json.loads(lines[place]), 'signature': signature}
            lines[place] = encode_line(first)
            break
    return b''.join(lines)


def _show(lines: bytes) -> None:
    from parlai_q2.report.terminal import render_score, use_colour

    colour, width = use_colour(sys.stdout), shutil.get_terminal_size().columns
    for line in lines.splitlines():
        fields = json.loads(line)
        if 'label' in fields:
            example = example_of(fields)
            score = Score.from_dict(fields)
            texts = example.response, example.knowledge
            # An empty line separates the responses.
            tqdm.write(f'{render_score(score, *texts, colour, width)}\n')
