"""``parlai_q2 score``: scores files of responses against their knowledge."""

import shutil
import sys

from tqdm import tqdm

from parlai_q2.claims import Score
from parlai_q2.cli.file_command import (
    add_file_options,
    add_out_format,
    add_scale_options,
    make_later,
    run_command_on_files,
)
from parlai_q2.cli.parser import add_fields_option
from parlai_q2.cli.scorer_options import add_scorer_options, scorer_from_opt
from parlai_q2.io.fields import read_fields
from parlai_q2.io.formats import Format
from parlai_q2.io.read import read_example
from parlai_q2.json_values import JsonObject
from parlai_q2.options import OptionParser, Options, add_switch
from parlai_q2.runs.file_run import CHUNK_RECORDS, Line
from parlai_q2.runs.score_job import ScoreJob


def add_options(parser: OptionParser) -> None:
    group = parser.add_argument_group('Scoring a file')
    add_file_options(
        group,
        'file of records with knowledge, response and, optionally, history and id. '
        'Other fields are copied to the output; a field label becomes given_label',
    )
    add_out_format(group)
    add_fields_option(group)
    group.add_argument(
        '--format',
        choices=tuple(Format),
        help="the format of the input; default: by the file's ending",
    )
    add_switch(group, '--show', 'print each response with its evidence')
    add_scorer_options(parser)
    add_scale_options(parser, CHUNK_RECORDS)


def run(opt: Options) -> JsonObject:
    """Score the files that options name; return the summary written beside them."""
    job = ScoreJob(make_later(scorer_from_opt, opt), read_fields(opt['fields']))
    show = show_scores if opt['show'] else None
    return run_command_on_files(opt, job, opt['measure'], show)


def show_scores(lines: list[Line]) -> None:
    from parlai_q2.report.terminal import render_score, use_colour

    colour, width = use_colour(sys.stdout), shutil.get_terminal_size().columns
    for line in lines:
        if 'label' in line:
            example, score = read_example(line), Score.from_dict(line)
            texts = example.response, example.knowledge
            # An empty line separates the responses.
            tqdm.write(f'{render_score(score, *texts, colour, width)}\n')
