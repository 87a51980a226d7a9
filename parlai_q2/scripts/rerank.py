"""
``parlai_q2 rerank``: ranks candidates that were generated elsewhere by how grounded
each is in its knowledge and, if they are labelled, reports how much that helps.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Optional

from parlai_q2.cli import log
from parlai_q2.cli.file_command import run_command_on_files
from parlai_q2.cli.files import add_fields_option
from parlai_q2.cli.rerank_options import add_choice_options, reranker_from_opt
from parlai_q2.cli.scale_options import add_out_format, add_scale_options, with_device
from parlai_q2.cli.scorer_options import add_scorer_options
from parlai_q2.io.fields import read_fields
from parlai_q2.io.locations import Location
from parlai_q2.rerank import PoolRecord, Reranker, read_pools
from parlai_q2.scale.file_run import Kind
from parlai_q2.scale.rerank_job import COLUMNS, RerankCounts, RerankJob, choice_of
from parlai_q2.scorers.roles import Role

# Pools in one call of the scorer.
CHUNK = 16


def read(
    path: Location, format: Optional[str], names: Mapping[str, str]
) -> Iterator[PoolRecord]:
    """The pools of a file; there is one format."""
    return read_pools(path, names)


def kind_of(names: Mapping[str, str]) -> Kind:
    """What is read and written; ``names`` as for :func:`read_pools`."""
    identity = {'fields': dict(names)} if names else {}
    reader = partial(read, names=names)
    return Kind(
        reader,
        choice_of,
        RerankCounts,
        identity=identity,
        bad_is_error=True,
        columns=COLUMNS,
    )


def add_options(parser: Any) -> None:
    """Add the command's options."""
    group = parser.add_argument_group('Reranking a file')
    group.add_argument(
        '--infile',
        help='JSON lines file with knowledge, candidates and, optionally, history and '
        'id; a path, a URL, or a pattern such as "in/*.jsonl" for many files',
    )
    group.add_argument(
        '--outfile',
        help='file to write, JSON lines or Parquet by its ending, or a folder for many',
    )
    add_out_format(group)
    add_fields_option(group)
    add_choice_options(parser)
    add_scorer_options(parser, Role.CHOOSE, Role.EXPLAIN)
    add_scale_options(parser, CHUNK)


def run(opt: Mapping[str, Any]) -> dict[str, Any]:
    """Rerank the files that options name; return the summary written beside them."""
    make = partial(make_reranker, with_device(opt, None))
    job = RerankJob(make, opt['abstain_text'])
    words = (opt['choose'], 'pools', 'reranked')
    kind = kind_of(read_fields(opt['fields']))
    summary = run_command_on_files(opt, job, kind, words)
    if rates := summary.get('hallucination_rate'):
        log.info(f'Hallucination rate over {summary["labelled"]} labelled pools:')
        for policy, rate in rates.items():
            interval = f'[{rate["low"]:.3f}, {rate["high"]:.3f}]'
            log.info(f'  {policy:<7} {rate["mean"]:.3f} {interval}')
    return summary


def make_reranker(opt: Mapping[str, Any], device: Optional[str]) -> Reranker:
    """A process's reranker, on its device or that of ``opt``."""
    return reranker_from_opt(with_device(opt, device))
