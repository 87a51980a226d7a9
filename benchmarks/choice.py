"""
Measures which reply is chosen from pools whose best reply people, or rules, have
labelled:

    python -m benchmarks.choice POOLS.jsonl --qa QA.jsonl.gz

A pool has ``knowledge`` (passages), ``kind``, ``history`` and ``candidates``, each with
``text``, ``g`` (1 supported, 0 not, "n" claims nothing), ``a`` (2 answers, 1 partly, 0
not) and, if not all that answer are best, ``best``. A chosen reply is ``wrong`` if it
is not supported, else ``best``, ``partly`` or ``beside`` by how it answers.
``--held-out`` reads the development fifth alone. As a control, the best replies are
read after their own turn and after another on the same passages: relevance must be
higher after their own. Relevance must also tell whether a reply answers. ``--pages``
hides the passages of each pool among those of other pools. ``--time`` compares the
seconds of a choice with those of scoring alone.
"""

import argparse
import random
import textwrap
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from parlai_q2.intervals import mean_interval
from parlai_q2.presets import load_preset
from parlai_q2.rerank import Pool, Ranking, Reranker, Rule
from parlai_q2.rerank.choice import DEFAULT_RERANK_BY, MIN_RELEVANCE, RerankBy
from parlai_q2.rerank.relevance import TurnReader
from parlai_q2.rerank.worth import claims_nothing
from parlai_q2.scorers.registry import DEFAULT_PRESET, load_scorer
from parlai_q2.text.questions import wants_answer
from parlai_q2.turns import Turn
from parlai_q2.zoo.train.block import find_fragments
from parlai_q2.zoo.train.relevance_pools import (
    is_best,
    is_held_out_pool,
    pair_on_passages,
    sentences_of,
)
from parlai_q2.zoo.train.rows import read_rows

OUTCOMES = ('best', 'partly', 'beside', 'wrong')
SHORT_POOLS = Path(__file__).parent / 'short_pools.jsonl'
DECLINE = "Sorry, I don't know."
RESAMPLES = 2000
# Pools that are ranked once more, before time counts.
WARM_UP = 3

Labelled = dict[str, Any]


def outcome(candidate: dict[str, Any]) -> str:
    """What it means that a candidate is chosen: one of :data:`OUTCOMES`."""
    if candidate['g'] == 0:
        return 'wrong'
    if is_best(candidate):
        return 'best'
    return 'partly' if candidate['a'] else 'beside'


def qa_pools(rows: Iterable[Mapping[str, Any]], seed: int = 0) -> list[Labelled]:
    """
    Pools of three replies to questions ``q`` on passages ``c`` with answers ``a``: the
    answer as a fragment, as a sentence or after yes or no; another fragment or
    sentence; a decline, which is best where there is no answer.
    """
    draw = random.Random(seed)
    pools: list[Labelled] = [
        {
            'kind': kind,
            'knowledge': [row['c']],
            'history': [turn],
            'candidates': draw.sample(
                [labelled(*reply) for reply in replies], len(replies)
            ),
        }
        for row in rows
        for kind, turn, replies in _turns(row, draw)
    ]
    draw.shuffle(pools)
    return pools


Reply = tuple[str, int | str, int]


def _turns(
    row: Mapping[str, Any], draw: random.Random
) -> Iterator[tuple[str, str, list[Reply]]]:
    """The kinds of pools that a row can make: kind, last turn and replies."""
    turn, answer, own = row['q'], row['a'], sentences_of(row['c'])
    fragments = find_fragments(row['c'], answer)
    other = draw.choice(fragments) if fragments else ''
    if not answer:
        replies: list[Reply] = [(DECLINE, 'n', 2)]
        replies += [(s, 1, 0) for s in own[:1]]
        replies += [(_as_sentence(other), 1, 0)] if other else []
        if len(replies) > 1:
            yield 'unanswerable', turn, replies
        return
    beside = [s for s in own if answer.lower() not in s.lower()]
    right = [s for s in own if answer in s]
    declined: Reply = (DECLINE, 'n', 0)
    if right and beside:
        wrong = draw.choice(beside)
        yield 'sentence', turn, [(right[0], 1, 2), (wrong, 1, 0), declined]
    if other:
        yield (
            'fragment',
            turn,
            [(_as_sentence(answer), 1, 2), (_as_sentence(other), 1, 0), declined],
        )
        asked, right_word, wrong_word = draw.choice(
            [(answer, 'Yes', 'No'), (other, 'No', 'Yes')]
        )
        replies = [
            (f'{right_word}, {answer}.', 1, 2),
            (f'{wrong_word}, {other}.', 0, 2),
        ]
        yield 'yesno', f'{turn} Is it {asked}?', [*replies, declined]


def labelled(text: str, supported: int | str, answers: int) -> dict[str, Any]:
    return {'text': text, 'g': supported, 'a': answers}


def balanced(pools: Sequence[Labelled], limit: int) -> list[Labelled]:
    """The first pools, as many of each kind as there can be."""
    kinds = sorted({p['kind'] for p in pools})
    share = limit // len(kinds)
    chosen: list[Labelled] = []
    for kind in kinds:
        chosen += [pool for pool in pools if pool['kind'] == kind][:share]
    return chosen


def in_pages(pools: Sequence[Labelled], others: int, seed: int = 0) -> list[Labelled]:
    """
    Pools whose knowledge is a page, with lines as in text files: their own passages and
    those of as many other pools, in any order.
    """
    draw = random.Random(seed)
    by_passage = {pool['knowledge'][0]: pool['knowledge'] for pool in pools}
    paged = []
    for pool in pools:
        strangers = [
            k for first, k in by_passage.items() if first != pool['knowledge'][0]
        ]
        several = [pool['knowledge'], *draw.sample(strangers, others)]
        paragraphs = ['\n'.join(passages) for passages in several]
        wrapped = [p if '\n' in p else textwrap.fill(p, 80) for p in paragraphs]
        page = '\n\n'.join(draw.sample(wrapped, len(wrapped)))
        paged.append({**pool, 'knowledge': [page]})
    return paged


def _as_sentence(answer: str) -> str:
    return answer[:1].upper() + answer[1:].rstrip('.') + '.'


def rank(reranker: Reranker, pools: Sequence[Labelled]) -> list[Ranking]:
    """The rankings of labelled pools."""
    return reranker.rank_batch(
        [
            Pool(p['knowledge'], [c['text'] for c in p['candidates']], p['history'])
            for p in pools
        ]
    )


def outcomes_of(pools: Sequence[Labelled], rankings: Sequence[Ranking]) -> list[str]:
    """The outcome of the choice for each pool."""
    return [
        outcome(pool['candidates'][ranking.chosen.place])
        for pool, ranking in zip(pools, rankings, strict=True)
    ]


def report_control(reranker: Reranker, pools: Sequence[Labelled]) -> None:
    """Print how often a best reply is more relevant to its own turn than to another."""
    pairs = []
    for pool, other in pair_on_passages(pools):
        best = [c['text'] for c in pool['candidates'] if is_best(c) and c['g'] == 1]
        if other is not pool and best:
            pairs += [(Turn('', p['history']), best[0]) for p in (pool, other)]
    reader = reranker.relevance_reader
    if reader is not None and pairs:
        values = reader.read_relevance(pairs)
        own, others = np.array(values[::2]), np.array(values[1::2])
        share = np.mean(own > others)
        print(f'  more relevant to its own turn: {share:.3f} of {len(own)}')


def relevance_of(
    pools: Sequence[Labelled], rankings: Sequence[Ranking]
) -> list[tuple[float, bool]]:
    """
    The relevance of each reply that claims something after a turn that asks something,
    and whether it answers, at least partly; none if it was not read.
    """
    return [
        (candidate.relevance, pool['candidates'][candidate.place]['a'] > 0)
        for pool, ranking in zip(pools, rankings, strict=True)
        if wants_answer(ranking.turn)
        for candidate in sorted(ranking, key=lambda c: c.place)
        if candidate.relevance is not None
        and not claims_nothing(candidate.text, ranking.turn)
    ]


def report(name: str, pools: Sequence[Labelled], outcomes: Sequence[str]) -> None:
    """Print the shares of outcomes, with intervals, for all pools and by kind."""
    print(f'{name} ({len(pools)} pools), 95 % intervals by resampling passages')
    groups = [p['knowledge'][0] for p in pools]
    for each in OUTCOMES:
        hits = np.array([o == each for o in outcomes], float)
        print(f'  {each:8} {mean_interval(hits, RESAMPLES, groups=groups)}')
    for kind, count in Counter(p['kind'] for p in pools).most_common():
        own = [o for p, o in zip(pools, outcomes, strict=True) if p['kind'] == kind]
        shares = '  '.join(f'{o} {own.count(o) / count:.2f}' for o in OUTCOMES)
        print(f'    {kind:14} {count:4}  {shares}')


def report_time(reranker: Reranker, pools: Sequence[Labelled]) -> None:
    """Print the CPU time of a choice, one pool at a time, and of scoring alone."""
    scoring = Reranker(reranker.chooser, Rule(RerankBy.SCORE))
    seconds: dict[Reranker, list[float]] = {scoring: [], reranker: []}
    for pool in [*pools[:WARM_UP], *pools]:
        for each, spent in seconds.items():
            start = time.process_time()
            rank(each, [pool])
            spent.append(time.process_time() - start)
    alone, whole = (np.array(spent[-len(pools) :]) for spent in seconds.values())
    print(
        f'  CPU of a choice: {1000 * np.median(whole):.0f} ms; of scoring alone: '
        f'{1000 * np.median(alone):.0f} ms (medians); ratio of the sums: '
        f'{whole.sum() / alone.sum():.2f}'
    )


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description='Measures the choice on pools')
    parser.add_argument('pools', nargs='*', help='JSON lines; packed by gzip or xz')
    parser.add_argument('--qa', help='questions on passages, made into pools')
    parser.add_argument('--limit', type=int, default=1200, help='of pools from --qa')
    parser.add_argument('--held-out', action='store_true')
    parser.add_argument('--pages', type=int, default=0, help='other pools in a page')
    parser.add_argument('--rerank-by', default=DEFAULT_RERANK_BY)
    parser.add_argument('--preset', default=DEFAULT_PRESET)
    parser.add_argument('--time', action='store_true')
    args = parser.parse_args(argv)
    scorer = load_scorer(preset=args.preset)
    relevance = TurnReader.of(load_preset(args.preset))
    reranker = Reranker(scorer, rule=Rule(args.rerank_by), relevance=relevance)
    sets: dict[str, Sequence[Labelled]] = {
        path: read_rows(path) for path in (str(SHORT_POOLS), *args.pools)
    }
    if args.qa:
        sets[args.qa] = balanced(qa_pools(read_rows(args.qa)), args.limit)
    for name, pools in sets.items():
        if args.held_out and name in args.pools:
            pools = [p for p in pools if is_held_out_pool(p)]
        if args.pages and name in args.pools:
            pools = in_pages(pools, args.pages)
        if pools:
            rankings = rank(reranker, pools)
            report(name, pools, outcomes_of(pools, rankings))
            report_control(reranker, pools)
            if read := relevance_of(pools, rankings):
                right = [(value >= MIN_RELEVANCE) == answers for value, answers in read]
                print(f'  tells what answers: {np.mean(right):.3f} of {len(right)}')
            if args.time:
                report_time(reranker, pools)


if __name__ == '__main__':
    main()
