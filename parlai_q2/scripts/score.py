"""``parlai_q2 score``: scores files of responses against their knowledge."""

import json
import shutil
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Optional

from tqdm import tqdm

from parlai_q2.claims import Score
from parlai_q2.cli.file_command import run_command_on_files, work_off
from parlai_q2.cli.files import add_fields_option
from parlai_q2.cli.scale_options import add_out_format, add_scale_options, with_device
from parlai_q2.cli.scorer_options import add_scorer_options, scorer_from_opt
from parlai_q2.io.chunks import CHUNK_RECORDS
from parlai_q2.io.fields import NO_NAMES, read_fields
from parlai_q2.io.formats import Format
from parlai_q2.io.read import example_of, read_records
from parlai_q2.scale.by_scorer import Same
from parlai_q2.scale.file_run import Kind
from parlai_q2.scale.job import Engine
from parlai_q2.scale.local import LocalEngine
from parlai_q2.scale.outcomes import Tally
from parlai_q2.scale.score_job import COLUMNS, ScoreJob, outcome_of
from parlai_q2.scale.shards import check_places, planned
from parlai_q2.scorers.base import Scorer


def kind_of(names: Mapping[str, str]) -> Kind:
    """What is read and written; ``names`` as for :func:`read_records`."""
    identity = {'fields': dict(names)} if names else {}
    read = partial(read_records, names=names)
    return Kind(read, outcome_of, Tally, 'signature', identity, columns=COLUMNS)


def add_options(parser: Any) -> None:
    """Add the command's options."""
    group = parser.add_argument_group('Scoring a file')
    group.add_argument(
        '--infile',
        help='file of records with knowledge, response and, optionally, history and '
        'id; other fields are copied to the output, where a label of your own '
        'becomes given_label. A path, a URL such as s3://bucket/in.jsonl, or a '
        'pattern such as "in/*.jsonl" for many files',
    )
    group.add_argument(
        '--outfile',
        help='file to write, JSON lines or Parquet by its ending, or a folder for many',
    )
    add_out_format(group)
    add_fields_option(group)
    group.add_argument(
        '--format',
        choices=tuple(Format),
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
    add_scale_options(parser, CHUNK_RECORDS)


def run(opt: Mapping[str, Any]) -> dict[str, Any]:
    """Score the files that options name; return the summary written beside them."""
    job = ScoreJob(partial(make_scorer, with_device(opt, None)))
    words = (opt['measure'], 'records', 'scored')
    lines = _show if opt['show'] else (lambda lines: None)
    kind = kind_of(read_fields(opt['fields']))
    return run_command_on_files(opt, job, kind, words, lines)


def make_scorer(opt: Mapping[str, Any], device: Optional[str]) -> Scorer:
    """A process's scorer, on its device or that of ``opt``."""
    return scorer_from_opt(with_device(opt, device))


def score_file(
    infile: Path,
    outfile: Path,
    scorer: Scorer,
    format: Optional[str] = None,
    show: bool = False,
    engine: Optional[Engine] = None,
    chunk_size: int = CHUNK_RECORDS,
    names: Mapping[str, str] = NO_NAMES,
) -> dict[str, Any]:
    """
    Score a file, resuming a run that was stopped.

    :param infile: a file that :func:`~parlai_q2.io.read.read_records` can read.
    :param outfile: receives one JSON line for each record, in order: the record's
        fields, then ``kind``, ``score``, ``label``, ``fallback``, ``claims`` and
        ``parts``, or ``error``.
    :param scorer: the scorer; with an engine, one like the engine's.
    :param format: the input's format, or None to infer it from the file's ending.
    :param show: whether to print each response with its evidence, too.
    :param engine: what runs a :class:`~parlai_q2.scale.score_job.ScoreJob`; by default
        this process, with the scorer.
    :param chunk_size: records in one call of the scorer.
    :param names: as for :func:`~parlai_q2.io.read.read_records`.
    :return: the summary that is written beside the output.
    :raises InputError: when the input cannot be read, has no record or changes during
        the run, or another run is writing this output.
    """
    plan = planned(infile, outfile)
    check_places(plan)
    engine = engine or LocalEngine(ScoreJob(Same(scorer)))
    lines = _show if show else (lambda lines: None)
    words = (scorer.name, 'records', 'scored')
    kind = kind_of(names)
    return work_off(plan, engine, kind, words, format, chunk_size, lines)


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
