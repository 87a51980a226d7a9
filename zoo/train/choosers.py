"""
Compares what chooses among candidates, on people's labels (docs/which_scorer.md)::

    python -m parlai_q2.zoo.train.choosers --begin shared/data/dev/begin

A pool has up to ten responses of BEGIN's development sets (Dziri et al. 2022) to the
same knowledge, which four systems gave. A chooser's rate is the share of pools where it
chooses a response that is not fully attributable; chit-chat is not wrong.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from parlai_q2.bootstrap import Interval, mean_interval
from parlai_q2.claims import Label
from parlai_q2.cli.log import run_module
from parlai_q2.rerank import Candidate, Pool, PoolRecord, Reranker
from parlai_q2.rerank.reranker import DEFAULT_COPY_PENALTY
from parlai_q2.tasks.begin.reader import read_file

CORPORA = ('wow', 'cmu', 'tc')
# As many as the agent looks for; some passages have dozens of responses.
MOST = 10
# What the others are compared with: the dearest.
BASE = 'grounded'
FIRST = 'first'


def choosers(copy_penalty: float = DEFAULT_COPY_PENALTY) -> dict[str, Reranker]:
    """The choosers by name. In the cascade, the fast scorer keeps three candidates."""
    reranker = partial(Reranker, copy_penalty=copy_penalty)
    return {
        BASE: reranker('grounded'),
        'grounded_fast': reranker('grounded_fast'),
        'cascade': reranker('grounded', prefilter='grounded_fast', prefilter_keep=3),
    }


def begin_pools(folder: Path) -> Iterator[PoolRecord]:
    """
    The pools of BEGIN's development sets (``begin_dev_wow.tsv``, ``_cmu`` and ``_tc``
    in a folder), each of at least two responses.
    """
    for corpus in CORPORA:
        by_knowledge: dict[str, list[tuple[str, str]]] = {}
        for turn in read_file(folder / f'begin_dev_{corpus}.tsv'):
            found = by_knowledge.setdefault(turn.knowledge.strip(), [])
            found.append((turn.response, turn.label))
        for knowledge, responses in by_knowledge.items():
            if len(responses) > 1:
                texts, labels = zip(*responses[:MOST], strict=True)
                pool = Pool(knowledge, [Candidate(text) for text in texts])
                yield PoolRecord(0, {}, pool, None, labels)


def wrong_choices(
    rerankers: dict[str, Reranker], pools: Sequence[PoolRecord]
) -> dict[str, list[float]]:
    """
    Whether each chooser is wrong in each pool; ``first`` takes the first response.
    """

    def wrong(pool: PoolRecord, place: int) -> float:
        return float(pool.labels[place] == Label.INCONSISTENT)

    found = {FIRST: [wrong(pool, 0) for pool in pools]}
    for name, reranker in rerankers.items():
        # One pool at a time: memory stays small, and scores do not depend on it.
        found_in = (one.pool for one in pools if one.pool is not None)
        places = [reranker.rank_batch([pool])[0].order[0] for pool in found_in]
        found[name] = [wrong(p, n) for p, n in zip(pools, places, strict=True)]
    return found


def table(wrong: dict[str, list[float]]) -> Iterator[tuple[str, Interval, Interval]]:
    """Each chooser's rate and paired difference from the base, with intervals."""
    for name, values in wrong.items():
        differences = [a - b for a, b in zip(values, wrong[BASE], strict=True)]
        yield name, mean_interval(values), mean_interval(differences)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description='Which scorer chooses best?')
    parser.add_argument('--begin', type=Path, required=True)
    parser.add_argument('--copy-penalty', type=float, default=DEFAULT_COPY_PENALTY)
    args = parser.parse_args()
    pools = list(begin_pools(args.begin))
    out = sys.stdout.write
    out(f'{len(pools)} pools, {sum(len(p.labels) for p in pools)} responses\n')
    wrong = wrong_choices(choosers(args.copy_penalty), pools)
    for name, rate, difference in table(wrong):
        out(f'{name:14}{rate!s:24}{difference!s}\n')


if __name__ == '__main__':
    run_module(main)
