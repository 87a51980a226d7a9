"""
Writes the rows that were made by reading, for a detector that has learnt the others::

    python -m parlai_q2.zoo.train.twins.written --replies reply.train.jsonl.xz \
      --dialogues dial.train.jsonl.gz --replay twins.train.jsonl.gz --outdir data

``written.jsonl`` has twins, a right reply in other words and a wrong one;
``read.jsonl`` has replies of the shipped generator, each with the class that a reader
gave it. Both name the passages of public data sets by a key (:func:`key_of`), so that
they hold nobody else's text; passages that were made up are written out. Rows go to
``written.train.jsonl.gz``, those of a tenth of the passages to
``written.valid.jsonl.gz``.

So that nothing is unlearnt, old rows are among them, and what people said in dialogues,
half of it under a passage of another turn that is like what they said, both with what
the detector thought of them before.
"""

import argparse
import hashlib
import json
import random
import re
from importlib.resources import files
from pathlib import Path
from typing import Iterator, Mapping, Optional, Sequence

from parlai_q2.errors import InputError
from parlai_q2.presets import load_preset, with_detector
from parlai_q2.scorers import backends
from parlai_q2.zoo.train.data import Row, read_rows
from parlai_q2.zoo.train.twins.candidates import LEAST_WORDS, neighbour
from parlai_q2.zoo.train.twins.rows import CANDIDATE, is_short, taught, write_folds

WRITTEN, READ = 'written.jsonl', 'read.jsonl'
GENERIC = 3
SEED = 9
# Of the old rows so many with a teacher's probabilities, and so many others.
TAUGHT, OTHERS = 5200, 2000
# Of what people said so much under its own passage, and as much under another.
SAID = 2600
# One passage in so many is held out.
HELD = 10
# Right replies with words about oneself are not learnt from: how far such words count
# is what annotators disagree about, so the detector keeps the view that it had.
ONESELF = re.compile(r"\b(?:i|i'm|i've|i'd|i'll|my|me|we|our|us|mine|myself)\b", re.I)


def key_of(passage: str) -> str:
    """The first twelve hexadecimal digits of the SHA-256 of a passage's words."""
    text = ' '.join(passage.split())
    return hashlib.sha256(text.encode('utf-8')).hexdigest()[:12]


def is_held_out(passage: str) -> bool:
    """Whether a passage's rows are for validation."""
    return int(key_of(passage), 16) % HELD == 0


def shipped(name: str) -> list[Row]:
    """The lines of a file beside this module."""
    text = (files(__package__) / name).read_text(encoding='utf-8')
    return [json.loads(line) for line in text.splitlines()]


def with_passages(rows: Sequence[Row], passages: Sequence[str]) -> Iterator[Row]:
    """
    Rows with their passage as ``p``.

    :raises InputError: when none of the passages that rows name is among those given.
    """
    by_key = {key_of(passage): passage for passage in passages}
    named = [row for row in rows if 'k' in row]
    if named and not any(row['k'] in by_key for row in named):
        raise InputError(
            'No passage is one that the rows were written for. Give --replies and '
            '--dialogues the files that docs/training.md names.'
        )
    for row in rows:
        passage = row.get('p') or by_key.get(row['k'])
        if passage:
            yield {**row, 'p': ' '.join(passage.split())}


def twins(rows: Sequence[Row]) -> Iterator[Row]:
    """Twins as the trainer reads them, and small talk beside them."""
    for row in rows:
        if 'right' not in row:
            continue
        if not ONESELF.search(row['right']):
            made = {'p': row['p'], 'h': row['right'], 'y': 0, 'wrong': row['wrong']}
            yield _row(made, f'written {row["kind"]}', y_wrong=row['y'])
        if 'generic' in row:
            made = {'p': row['p'], 'h': row['generic'], 'y': GENERIC}
            yield _row(made, 'written generic')


def candidates(rows: Sequence[Row]) -> Iterator[Row]:
    """Replies of the generator with their class."""
    for row in rows:
        if 'h' in row and (row['y'] or not ONESELF.search(row['h'])):
            yield _row({'p': row['p'], 'h': row['h'], 'y': row['y']}, 'read')


def replayed(rows: Sequence[Row], rng: random.Random) -> list[Row]:
    """Old rows of :mod:`.rows` that are learnt again."""
    taught = [row for row in rows if 'z' in row]
    others = [row for row in rows if 'z' not in row]
    return rng.sample(taught, min(TAUGHT, len(taught))) + rng.sample(
        others, min(OTHERS, len(others))
    )


def said(turns: Sequence[Row], rng: random.Random) -> list[Row]:
    """
    What people said under a passage, without a class.

    :param turns: with ``k`` (a passage), ``h`` (the turns before) and ``r`` (a reply).
    """
    fit = [{'k': t['k'], 'r': t['r'], 'h': t['h']} for t in turns]
    fit = [t for t in fit if len(t['k'].split()) >= LEAST_WORDS]
    fit = rng.sample(fit, min(2 * SAID, len(fit)))
    rows = []
    for number, turn in enumerate(fit):
        passage = turn['k']
        if number % 2:
            talk = ' '.join([*turn['h'][-2:], turn['r']])
            passage = neighbour(passage, fit, rng, like=talk)
        row = {'p': passage.lower(), 'h': turn['r'].lower(), 'src': CANDIDATE}
        if is_short(row):
            rows.append(row)
    return rows


def _row(texts: Mapping[str, object], source: str, **more: object) -> Row:
    lower = {k: v.lower() if isinstance(v, str) else v for k, v in texts.items()}
    return {**lower, **more, 'src': source}


def main(argv: Optional[Sequence[str]] = None) -> None:
    """Write the rows."""
    parser = argparse.ArgumentParser(description='Rows that were made by reading')
    parser.add_argument('--replies', required=True, help='turns with k and r')
    parser.add_argument('--dialogues', required=True, help='turns with k, h and r')
    parser.add_argument('--replay', required=True, help='twins.train of rows')
    parser.add_argument(
        '--teacher', default='mini', help='preset of the detector that is taught'
    )
    parser.add_argument('--outdir', type=Path, required=True)
    args = parser.parse_args(argv)
    turns = read_rows(args.dialogues)
    passages = [row['k'] for row in [*read_rows(args.replies), *turns]]
    found = list(with_passages([*shipped(WRITTEN), *shipped(READ)], passages))
    rows = [*twins(found), *candidates(found)]
    train = [row for row in rows if not is_held_out(row['p'])]
    rng = random.Random(SEED)
    train += replayed(read_rows(args.replay), rng)
    teacher = backends.detector(with_detector(load_preset('mini'), args.teacher))
    train += taught(said(turns, rng), [teacher])
    rng.shuffle(train)
    valid = [row for row in rows if is_held_out(row['p'])]
    write_folds(args.outdir, 'written', {'train': train, 'valid': valid})


if __name__ == '__main__':
    main()
