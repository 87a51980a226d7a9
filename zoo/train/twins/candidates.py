"""
Writes what a generator says about passages, right and wrong, for
:mod:`~parlai_q2.zoo.train.twins.rows` to have judged by the teachers::

    python -m parlai_q2.zoo.train.twins.candidates --turns dial.train.jsonl.gz \
      --outfile pools.jsonl.gz

A turn has ``k`` (a passage), ``h`` (what was said before) and ``r`` (a person's reply).
The shipped generator replies hot, to every third turn or so from a passage that is like
its own, so that what it says sounds right and is not.
"""

import argparse
import random
from typing import Any, Iterator, Optional, Sequence

from parlai.core.agents import create_agent
from parlai.core.params import ParlaiParser
from parlai.utils import logging

from parlai_q2.agents.grounded_rerank import AGENT
from parlai_q2.zoo.train.data import Row, read_rows, write_rows
from parlai_q2.zoo.train.twins.sources import words

SEED = 41
MOST = 1000
# Which candidates, and by which scorer they are put in order: one without a model.
OPTIONS = (
    *('--candidate-strategies', 'nucleus:5,beam:2', '--temperature', '1.2'),
    *('--choose', 'precision', '--explain', 'none', '--guards', 'false'),
)
LEAST_WORDS, MOST_WORDS = 6, 44  # of a passage
TURNS_BEFORE = 3
NEIGHBOURS = 0.35  # the share of turns that are answered from another passage
AMONG = 300  # passages drawn, of which the one most like a turn's own is taken


def turns_of(rows: Sequence[Row], most: int, rng: random.Random) -> list[Row]:
    """Turns with a passage of their own that is neither short nor long, shuffled."""
    fit = [r for r in rows if LEAST_WORDS <= len(r['k'].split()) <= MOST_WORDS]
    by_passage = {row['k']: row for row in rng.sample(fit, len(fit))}
    return list(by_passage.values())[:most]


def neighbour(
    passage: str, turns: Sequence[Row], rng: random.Random, like: str = ''
) -> str:
    """
    Of some other passages, the one that has most words in common with this one.

    :param like: a text that is compared in place of the passage.
    """
    drawn = [t['k'] for t in rng.sample(list(turns), min(AMONG, len(turns)))]
    own = words(like or passage)

    def alike(other: str) -> float:
        return len(own & words(other)) / len(own | words(other))

    return max((k for k in drawn if k != passage), key=alike, default=passage)


def pools(turns: Sequence[Row], agent: Any, rng: random.Random) -> Iterator[Row]:
    """For each turn its passage, and the candidates and a person's reply under it."""
    for number, turn in enumerate(turns, 1):
        near = rng.random() < NEIGHBOURS
        read = neighbour(turn['k'], turns, rng) if near else turn['k']
        before = [text for text in turn['h'] if text.strip()][-TURNS_BEFORE:]
        agent.reset()
        text = '\n'.join(before) or 'hi'
        agent.observe({'text': text, 'knowledge': read, 'episode_done': True})
        said = [candidate['text'] for candidate in agent.act()['rerank']]
        yield {'knowledge': turn['k'], 'candidates': [*said, turn['r']], 'read': read}
        if number % 50 == 0:
            logging.info(f'{number} of {len(turns)} turns')


def main(argv: Optional[Sequence[str]] = None) -> None:
    """Write a file of pools."""
    parser = argparse.ArgumentParser(description='Candidates of the shipped generator')
    parser.add_argument('--turns', nargs='+', required=True, help='rows with k, h, r')
    parser.add_argument('--most', type=int, default=MOST, help='turns to take')
    parser.add_argument('--outfile', required=True)
    args = parser.parse_args(argv)
    rng = random.Random(SEED)
    rows = [row for path in args.turns for row in read_rows(path)]
    turns = turns_of(rows, args.most, rng)
    agent = create_agent(ParlaiParser(True, True).parse_args(['-m', AGENT, *OPTIONS]))
    count = write_rows(args.outfile, pools(turns, agent, rng))
    logging.info(f'{count} pools: {args.outfile}')


if __name__ == '__main__':
    main()
