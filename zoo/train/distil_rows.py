"""
Writes rows from which a small detector learns to predict as a larger one does:

    python -m parlai_q2.zoo.train.distil_rows --pools POOLS.jsonl \
      --dialogues DIAL.jsonl.gz --twins TWINS.jsonl --rows CONS.jsonl.xz \
      --outfile distil.jsonl.gz

A row has the detector's input: a sentence of a reply (``h``) and the knowledge that is
read for it (``p``). The labels of pools and twins are left out, since a detector would
learn their authors' style from them. Rows of the detector's own data keep their class
(``y``). ``train_detector --teacher`` adds what the larger detector predicts.
"""

import argparse
import random
from collections.abc import Iterator, Sequence

from parlai_q2.scorers.checked import as_read
from parlai_q2.scorers.premises import choose_premises, split_response
from parlai_q2.text.selection import index_passages
from parlai_q2.zoo.train import relevance_pools
from parlai_q2.zoo.train.rows import Row, is_held_out, read_rows, write_rows

# The number of dialogue turns to read, and the share with another turn's knowledge.
DIALOGUES, OTHER_KNOWLEDGE = 9000, 0.35
# The number of rows of the detector's own data.
REPLAYED = 12000
# The share of sentences also read with the best sentence of the knowledge alone.
ALONE = 0.3
# Longer pairs are left out, in characters.
LONGEST = 450


def rows_of(passages: Sequence[str], reply: str, draw: random.Random) -> Iterator[Row]:
    """Pair each sentence of a reply with the knowledge that is read for it."""
    index = index_passages(*passages)
    for span in split_response(reply):
        premises = choose_premises(index, span.text)
        is_split = bool(premises[0].chosen)
        all_read, *others = premises[::-1] if is_split else premises
        chosen = [all_read, *(others[:1] if draw.random() < ALONE else [])]
        for premise in chosen:
            hypothesis = as_read(premise.text, span.text).lower()
            yield {'p': premise.text.lower(), 'h': hypothesis}


def make_rows(args: argparse.Namespace, draw: random.Random) -> list[Row]:
    """Collect all rows, in random order."""
    rows: list[Row] = []
    for pool in read_rows(*args.pools):
        if not relevance_pools.is_held_out_pool(pool):
            for reply in pool['candidates']:
                rows += rows_of(pool['knowledge'], reply['text'], draw)
    dialogues = read_rows(args.dialogues)
    for turn in draw.sample(dialogues, min(DIALOGUES, len(dialogues))):
        is_own = draw.random() > OTHER_KNOWLEDGE
        rows += rows_of(
            [(turn if is_own else draw.choice(dialogues))['k']], turn['r'], draw
        )
    for twin in read_rows(*args.twins):
        if 'p' in twin and not is_held_out(twin['p']):
            rows += rows_of([twin['p']], twin['right'], draw)
            rows += rows_of([twin['p']], twin['wrong'], draw)
    replayed = read_rows(args.rows)
    for row in draw.sample(replayed, min(REPLAYED, len(replayed))):
        rows.append({'p': row['p'].lower(), 'h': row['h'].lower(), 'y': row['y']})
    by_texts = {(row['p'], row['h']): row for row in rows}
    short = [row for row in by_texts.values() if len(row['p'] + row['h']) < LONGEST]
    return draw.sample(short, min(args.limit, len(short)))


def main(argv: Sequence[str] | None = None) -> None:
    """Write the rows."""
    parser = argparse.ArgumentParser(description='Rows for distilling a detector')
    parser.add_argument('--pools', nargs='+', required=True)
    parser.add_argument('--dialogues', required=True)
    parser.add_argument('--twins', nargs='+', required=True)
    parser.add_argument('--rows', required=True)
    parser.add_argument('--limit', type=int, default=46000)
    parser.add_argument('--seed', type=int, default=11)
    parser.add_argument('--outfile', required=True)
    args = parser.parse_args(argv)
    rows = make_rows(args, random.Random(args.seed))
    print(write_rows(args.outfile, rows), 'rows')


if __name__ == '__main__':
    main()
