"""
Times scoring in several processes, as ``parlai_q2 score --workers`` does it: one
process for each core, on one thread. The small operations between matrix products gain
nothing from more threads.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Optional

from parlai_q2.benchmark.clock import spread, timed
from parlai_q2.io.chunks import CHUNK_RECORDS, Chunk, cut_chunks
from parlai_q2.io.read import Record
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

    :param preset: the preset of the models.
    :param signature: the signature that the workers' scorer must have.
    :param pairs: B pairs (knowledge, response). Of very many pairs, only the first are
        scored.
    :param workers: number of processes, at least 1, which share the cores.
    :param rounds: how often each worker scores the pairs.
    :return: seconds a response, and the number of workers and of each one's threads.
    """
    where = places(workers, None)
    # One chunk for each worker, all the same, so that none waits for another.
    work = list(pairs[:CHUNK_RECORDS])
    pool = Pool(partial(load_q2, preset), where, signature)
    try:
        # First a small chunk for each, so that all have started and loaded models.
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
    Load a worker's scorer.
    """
    return load_scorer('q2', preset, device=device)
