"""
``parlai_q2 rerank``: ranks candidates that were generated elsewhere by how grounded
each is in its knowledge and, if they are labelled, reports how much that helps.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from parlai_q2.cli import log
from parlai_q2.cli.file_command import (
    add_file_options,
    add_out_format,
    add_scale_options,
    run_command_on_files,
    with_device,
)
from parlai_q2.cli.parser import add_fields_option
from parlai_q2.cli.scorer_options import (
    add_choice_options,
    add_scorer_options,
    reranker_from_opt,
)
from parlai_q2.io.fields import read_fields
from parlai_q2.io.files import Location
from parlai_q2.rerank import PoolRecord, Reranker, read_pools
from parlai_q2.runs.file_run import Task
from parlai_q2.runs.rerank_job import COLUMNS, RerankJob, RerankTally
from parlai_q2.scorers.roles import Role

# Pools in one call of the scorer.
CHUNK_POOLS = 16


def read(
    path: Location, format: str | None, names: Mapping[str, str]
) -> Iterator[PoolRecord]:
    """The pools of a file; its ending tells the format."""
    return read_pools(path, names)


def make_task(names: Mapping[str, str]) -> Task:
    """What is read and written; ``names`` as for :func:`read_pools`."""
    return Task(
        'pools',
        'reranked',
        partial(read, names=names),
        RerankTally,
        identity={'fields': dict(names)} if names else {},
        columns=COLUMNS,
    )


def add_options(parser: Any) -> None:
    """Add the command's options."""
    group = parser.add_argument_group('Reranking a file')
    add_file_options(
        group,
        'JSON lines or Parquet file with knowledge, candidates and, optionally, '
        'history and id',
    )
    add_out_format(group)
    add_fields_option(group)
    add_choice_options(parser)
    add_scorer_options(parser, Role.CHOOSE, Role.EXPLAIN)
    add_scale_options(parser, CHUNK_POOLS)


def run(opt: Mapping[str, Any]) -> dict[str, Any]:
    """Rerank the files that options name; return the summary written beside them."""
    make = partial(make_reranker, with_device(opt, None))
    job = RerankJob(make, opt['abstain_text'])
    task = make_task(read_fields(opt['fields']))
    summary = run_command_on_files(opt, job, task, opt['choose'])
    if rates := summary.get('hallucination_rate'):
        log.info(f'Hallucination rate over {summary["labelled"]} labelled pools:')
        for policy, rate in rates.items():
            interval = f'[{rate["low"]:.3f}, {rate["high"]:.3f}]'
            log.info(f'  {policy:<7} {rate["mean"]:.3f} {interval}')
    return summary


def make_reranker(opt: Mapping[str, Any], device: str | None) -> Reranker:
    """A process's reranker, on its device or that of ``opt``."""
    return reranker_from_opt(with_device(opt, device))
