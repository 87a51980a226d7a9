"""
Orders the detector's training rows, so that those worth most come first.

    python -m parlai_q2.zoo.train.detector_rows --infile cons.train.jsonl.xz \\
        --outfile detector.train.jsonl.gz

A run that ends early has then seen what is nearest to its use: dialogue turns with
their knowledge, claims checked against an encyclopedia, and premises as long as
documents. No single kind of row takes more than a share of that first part. The
second part has all other rows. Each part is shuffled.

Rows of ANLI are left out: their licence (CC BY-NC 4.0) forbids commercial use.
"""

import argparse
import random
from collections import Counter
from pathlib import Path
from typing import Any, Optional, Sequence

from parlai_q2.zoo.train.data import read_rows, write_rows

LEFT_OUT = ('anli',)
# Sources of the first part, by how their names begin.
FIRST = (
    'd-',
    'fever',
    'climate-fever',
    'fool-me-twice',
    'halueval',
    'healthver',
    'wice',
    'scitail',
    'rte',
    'control',
)
# At most this many rows of one source and class are in the first part.
MOST = 6500
# Sentence pairs that teach entailment in general, so many of each class.
GENERAL = {'mnli': 1500, 'lingnli': 2500, 'sick': 500, 'dnc': 500}


def ordered(rows: Sequence[dict[str, Any]], seed: int = 1) -> list[dict[str, Any]]:
    """
    The rows in the order in which they are learnt from.

    :param rows: rows with ``src`` and ``y``.
    :param seed: shuffles each part, and decides which rows are over the limits.
    """
    rng = random.Random(seed)
    taken: Counter[tuple[str, int]] = Counter()
    first: list[dict[str, Any]] = []
    second: list[dict[str, Any]] = []
    for row in rng.sample(list(rows), len(rows)):
        source, kind = row['src'], (row['src'], row['y'])
        if source in LEFT_OUT:
            continue
        most = MOST if source.startswith(FIRST) else GENERAL.get(source, 0)
        part = first if taken[kind] < most else second
        taken[kind] += 1
        part.append(row)
    return first + second


def main(argv: Optional[Sequence[str]] = None) -> None:
    """
    Write a file of ordered rows.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('--infile', type=Path, required=True)
    parser.add_argument('--outfile', type=Path, required=True)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--most', type=int, help='write only the first of them')
    args = parser.parse_args(argv)
    rows = ordered(read_rows(args.infile), args.seed)[: args.most]
    count = write_rows(args.outfile, rows)
    print(f'{args.outfile}: {count} rows')


if __name__ == '__main__':
    main()
