"""
``parlai_q2 rerank``: ranks candidates that were generated elsewhere by how grounded
each is in its knowledge and, if they are labelled, reports how much that helps.
"""

from parlai_q2.cli import log
from parlai_q2.cli.file_command import (
    add_file_options,
    add_out_format,
    add_scale_options,
    make_later,
    run_command_on_files,
)
from parlai_q2.cli.parser import add_fields_option
from parlai_q2.cli.scorer_options import (
    add_choice_options,
    add_scorer_options,
    reranker_from_opt,
)
from parlai_q2.io.fields import read_fields
from parlai_q2.json_values import JsonObject
from parlai_q2.options import OptionParser, Options
from parlai_q2.runs.rerank_job import RerankJob
from parlai_q2.scorers.roles import Role

# Pools in one call of the scorer.
CHUNK_POOLS = 16


def add_options(parser: OptionParser) -> None:
    group = parser.add_argument_group('Reranking a file')
    add_file_options(
        group,
        'JSON lines, CSV, TSV or Parquet file with knowledge, candidates (in a cell, a '
        'JSON list) and, optionally, history and id',
    )
    add_out_format(group)
    add_fields_option(group)
    add_choice_options(parser)
    add_scorer_options(parser, Role.CHOOSE, Role.EXPLAIN)
    add_scale_options(parser, CHUNK_POOLS)


def run(opt: Options) -> JsonObject:
    """Rerank the files that options name; return the summary written beside them."""
    names = read_fields(opt['fields'])
    job = RerankJob(make_later(reranker_from_opt, opt), opt['abstain_text'], names)
    summary = run_command_on_files(opt, job, opt['choose'])
    if rates := summary.get('hallucination_rate'):
        log.info(f'Hallucination rate over {summary["labelled"]} labelled pools:')
        for policy, rate in rates.items():
            interval = f'[{rate["low"]:.3f}, {rate["high"]:.3f}]'
            log.info(f'  {policy:<7} {rate["mean"]:.3f} {interval}')
    return summary
