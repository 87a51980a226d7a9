"""
Writes the rows of hand-written twins, beside those by rule (:mod:`.rows`)::

    python -m parlai_q2.zoo.train.twins.written --replies reply.train.jsonl.xz \
      --dialogues dial.train.jsonl.gz --outdir data

``written.jsonl`` and ``written_varied.jsonl`` have twins, a right reply in other words
and a wrong one; ``read.jsonl`` has replies of the shipped generator, each with the
class that a reader gave it. Passages of public data sets are named by a key
(:func:`~parlai_q2.zoo.train.rows.passage_key`), so that the files hold nobody else's
text; invented passages are written out. Rows go to ``written.train.jsonl.gz``, those of
a tenth of the passages to ``written.valid.jsonl.gz``.

Replies that people wrote in dialogues are among the training rows, half of them under a
similar passage of another turn. They have no class: ``train_detector`` learns a
teacher's probabilities for them, so that nothing is forgotten.
"""

import argparse
import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path

from parlai_q2.errors import InputError
from parlai_q2.zoo.train.rows import Row, is_held_out, passage_key, read_rows
from parlai_q2.zoo.train.twins.by_rule import is_short, words, write_folds

TWINS, READ = ('written.jsonl', 'written_varied.jsonl'), 'read.jsonl'
GENERIC = 3
SEED = 9
# Replies of people, half of them under another passage, chosen from so many.
HUMAN_REPLIES, CANDIDATE_PASSAGES = 5200, 300
LEAST_WORDS = 6  # of a passage
# Right replies about the speaker are left out: annotators disagree about them, so the
# detector keeps its previous view.
ONESELF = re.compile(r"\b(?:i|i'm|i've|i'd|i'll|my|me|we|our|us|mine|myself)\b", re.I)


def shipped_rows(*names: str) -> list[Row]:
    """Read the rows of files in this folder."""
    texts = [(files(__package__) / name).read_text(encoding='utf-8') for name in names]
    return [json.loads(line) for line in ''.join(texts).splitlines()]


def with_passages(rows: Sequence[Row], passages: Sequence[str]) -> Iterator[Row]:
    """
    Add its passage to each row, as ``p``; leave out rows whose passage is not given.

    :raises InputError: if none of the passages belongs to a row.
    """
    by_key = {passage_key(passage): passage for passage in passages}
    keyed = [row for row in rows if 'k' in row]
    if keyed and not any(row['k'] in by_key for row in keyed):
        raise InputError(
            'No passage is one that the rows were written for. Give --replies and '
            '--dialogues the files that docs/training.md names.'
        )
    for row in rows:
        passage = row.get('p') or by_key.get(row['k'])
        if passage:
            yield {**row, 'p': ' '.join(passage.split())}


def twin_rows(rows: Sequence[Row]) -> Iterator[Row]:
    """Twins as the trainer reads them, and small talk written beside them."""
    for row in rows:
        if 'right' not in row:
            continue
        if not ONESELF.search(row['right']):
            twin = {'p': row['p'], 'h': row['right'], 'y': 0, 'wrong': row['wrong']}
            yield _row(twin, f'written {row["kind"]}', y_wrong=row['y'])
        if 'generic' in row:
            chat = {'p': row['p'], 'h': row['generic'], 'y': GENERIC}
            yield _row(chat, 'written generic')


def judged_rows(rows: Sequence[Row]) -> Iterator[Row]:
    """Replies of the generator with the class that a reader gave them."""
    for row in rows:
        if 'h' in row and (row['y'] or not ONESELF.search(row['h'])):
            yield _row({'p': row['p'], 'h': row['h'], 'y': row['y']}, 'read')


def human_rows(turns: Sequence[Row], rng: random.Random) -> list[Row]:
    """
    Make rows of human replies under a passage, without a class.

    :param turns: with ``k`` (a passage), ``h`` (the turns before) and ``r`` (a reply).
    """
    fit = [turn for turn in turns if len(turn['k'].split()) >= LEAST_WORDS]
    chosen = rng.sample(fit, min(HUMAN_REPLIES, len(fit)))
    rows = []
    for number, turn in enumerate(chosen):
        passage = turn['k']
        if number % 2:
            talk = ' '.join([*turn['h'][-2:], turn['r']])
            passage = most_similar(talk, passage, chosen, rng)
        rows.append(_row({'p': passage, 'h': turn['r']}, 'human'))
    return [row for row in rows if is_short(row)]


def most_similar(
    text: str, passage: str, turns: Sequence[Row], rng: random.Random
) -> str:
    """
    Of some random passages other than this one, the most similar to a text by words.
    """
    drawn = rng.sample(list(turns), min(CANDIDATE_PASSAGES, len(turns)))
    text_words = words(text)

    def overlap(other: str) -> float:
        return len(text_words & words(other)) / len(text_words | words(other))

    passages = [turn['k'] for turn in drawn if turn['k'] != passage]
    return max(passages, key=overlap, default=passage)


def _row(texts: Mapping[str, object], source: str, **fields: object) -> Row:
    lower = {k: v.lower() if isinstance(v, str) else v for k, v in texts.items()}
    return {**lower, **fields, 'src': source}


def main(argv: Sequence[str] | None = None) -> None:
    """Write the rows."""
    parser = argparse.ArgumentParser(description='Rows that were written by hand')
    parser.add_argument('--replies', required=True, help='turns with k and r')
    parser.add_argument('--dialogues', required=True, help='turns with k, h and r')
    parser.add_argument('--outdir', type=Path, required=True)
    args = parser.parse_args(argv)
    turns = read_rows(args.dialogues)
    passages = [row['k'] for row in [*read_rows(args.replies), *turns]]
    written = list(with_passages(shipped_rows(*TWINS, READ), passages))
    rows = [*twin_rows(written), *judged_rows(written)]
    rng = random.Random(SEED)
    train = [row for row in rows if not is_held_out(row['p'])]
    train += human_rows(turns, rng)
    rng.shuffle(train)
    valid = [row for row in rows if is_held_out(row['p'])]
    write_folds(args.outdir, 'written', {'train': train, 'valid': valid})


if __name__ == '__main__':
    main()
