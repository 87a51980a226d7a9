"""
Collects the examples that the scorer ``grounded`` is fitted on.

    python -m benchmarks.grounded_data --begin begin --outfile examples.jsonl

There are up to four kinds, so that no single corpus' habits decide:

- BEGIN's development sets (Dziri et al. 2022), ``begin_dev_<corpus>.tsv``, annotated by
  people;
- the fold ``dev`` of the twins that ship, where copied words tell nothing;
- with ``--dial``, grounded turns (``k`` knowledge, ``r`` response, ``f1`` their
  overlap), each with one hard negative (:mod:`parlai_q2.perturb.hard_negatives`);
- with ``--pairs``, held-out pairs of the detector's own data (``p``, ``h``, ``y``,
  ``src``), of which those are taken whose ``src`` marks them as dialogue (``d-``).
"""

import argparse
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from parlai.utils import logging

from parlai_q2.claims import Label
from parlai_q2.evaluate.sets import Pair
from parlai_q2.perturb.hard_negatives import HardNegatives, read_grounded
from parlai_q2.tasks.begin.reader import read_file
from parlai_q2.tasks.twins.reader import read_part
from parlai_q2.zoo.train.rows import read_rows, write_rows

BEGIN_CORPORA = ('wow', 'cmu', 'tc')
# The labels of the detector's classes: entailed, unsupported, contradicted, generic.
PAIR_LABELS = (Label.CONSISTENT, Label.INCONSISTENT, Label.INCONSISTENT, Label.GENERIC)
LEAST_F1 = 0.4  # of response and knowledge, for a turn to be taken as grounded
LEAST_WORDS = 6  # of a response
TURNS = 300  # of the grounded ones
PER_KIND = 40  # at most so many held-out pairs of one source and label
SEED = 0  # decides which are taken, their order, and every change
Record = dict[str, Any]


def record(corpus: str, kind: str, number: int, pair: Pair, label: str) -> Record:
    knowledge, response = pair
    return {
        'id': f'{corpus}-{kind}-{number}'.replace(' ', '_'),
        'corpus': corpus,
        'kind': kind,
        'knowledge': knowledge,
        'response': response,
        'q2_label': label,
    }


def begin_examples(folder: Path) -> Iterator[Record]:
    """BEGIN's development sets, without rows that lack a text."""
    for corpus in BEGIN_CORPORA:
        for n, turn in enumerate(read_file(folder / f'begin_dev_{corpus}.tsv')):
            if turn.knowledge.strip() and turn.response.strip():
                yield record(corpus, turn.extra['system'], n, turn.pair, turn.label)


def twin_examples() -> Iterator[Record]:
    """A right and a wrong response to each piece of knowledge."""
    for n, twin in enumerate(read_part('')):
        yield record('twins', twin.corpus, n, twin.pair, twin.label)


def swap_examples(path: str) -> Iterator[Record]:
    """Grounded turns, each followed by a hard negative if one can be made."""
    pairs = {
        turn['r'].lower(): (turn['k'], turn['r'])
        for turn in read_rows(path)
        if turn['f1'] >= LEAST_F1 and len(turn['r'].split()) >= LEAST_WORDS
    }
    grounded = read_grounded(list(pairs.values()))
    maker = HardNegatives(grounded, SEED)
    chosen = random.Random(SEED).sample(grounded, min(TURNS, len(grounded)))
    for n, example in enumerate(chosen):
        pair = example.knowledge, example.response
        yield record('swaps', 'turn', n, pair, Label.CONSISTENT)
        wrong = maker.perturb(example)
        if wrong is not None:
            yield record('swaps', wrong[0], n, wrong[1:], Label.INCONSISTENT)


def pair_examples(path: str) -> Iterator[Record]:
    """Held-out dialogue pairs, up to :data:`PER_KIND` for each source and label."""
    rows = [row for row in read_rows(path) if row['src'].startswith('d-')]
    random.Random(SEED).shuffle(rows)
    counts: Counter[tuple[str, int]] = Counter()
    for n, row in enumerate(rows):
        kind = (row['src'], row['y'])
        if counts[kind] < PER_KIND and row['p'].strip() and row['h'].strip():
            counts[kind] += 1
            label = PAIR_LABELS[row['y']]
            yield record('pairs', row['src'], n, (row['p'], row['h']), label)


def main() -> None:
    """Write the examples and log how many of each there are."""
    parser = argparse.ArgumentParser(description='Examples to fit "grounded" on')
    parser.add_argument('--begin', type=Path, required=True)
    parser.add_argument('--dial', help='grounded turns')
    parser.add_argument('--pairs', help="held-out rows of the detector's")
    parser.add_argument('--outfile', type=Path, required=True)
    args = parser.parse_args()
    records = [
        *begin_examples(args.begin),
        *twin_examples(),
        *(swap_examples(args.dial) if args.dial else ()),
        *(pair_examples(args.pairs) if args.pairs else ()),
    ]
    # Shuffled, so that any part of the file is like the whole.
    random.Random(SEED).shuffle(records)
    write_rows(args.outfile, records)
    counts = Counter((r['corpus'], r['q2_label']) for r in records)
    for (corpus, label), count in sorted(counts.items()):
        logging.info(f'{corpus} {label}: {count}')


if __name__ == '__main__':
    main()
