"""
Scoring in bulk: one process a core, each on one thread, as ``parlai_q2 score`` does it
with ``--workers``. The small operations between matrix products gain nothing from more
threads.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Optional

from parlai_q2.benchmark.clock import spread, timed
from parlai_q2.files.chunks import CHUNK_RECORDS, Chunk, cut_chunks
from parlai_q2.files.read import Record
from parlai_q2.records import Example
from parlai_q2.scale.placement import places
from parlai_q2.scale.pool import Pool
from parlai_q2.scorers import load_scorer
from parlai_q2.scorers.base import Scorer


def measure_workers(
    preset: str,
    signature: str,
    pairs: Sequence[tuple[str, str]],
    workers: int,
    rounds: int,
) -> dict[str, Any]:
    """
    Time Q2 in several processes that have their models loaded.

    :param preset: the models.
    :param signature: of the scorer that the workers are to have.
    :param pairs: B pairs (knowledge, response).
    :param workers: processes, at least 1; the cores are shared out among them.
    :param rounds: how often each worker scores all pairs, or the first of very many.
    :return: seconds a response, and the workers' number and threads.
    """
    where = places(workers, None)
    # A chunk a worker, all alike, so that none waits for another.
    work = list(pairs[:CHUNK_RECORDS])
    pool = Pool(partial(load_q2, preset), where, signature)
    try:
        # First a small one for each, so that all have started and loaded.
        for _ in pool.run(chunks([pairs[0]] * workers, 1)):
            pass
        times = [
            timed(lambda: list(pool.run(chunks(work * workers, len(work)))))[0]
            / (len(work) * workers)
            for _ in range(rounds)
        ]
    finally:
        pool.stop()
    return {
        'workers': workers,
        'threads': where[0].threads,
        'chunk': len(work),
        'seconds': spread(times),
    }


def chunks(pairs: Sequence[tuple[str, str]], size: int) -> Iterator[Chunk]:
    """
    Pairs in chunks of ``size``.
    """
    records = (
        Record(line, {}, Example(knowledge, response), None, line)
        for line, (knowledge, response) in enumerate(pairs, 1)
    )
    return cut_chunks(records, size)


def load_q2(preset: str, device: Optional[str]) -> Scorer:
    """
    A worker's scorer.
    """
    return load_scorer('q2', preset, device=device)
