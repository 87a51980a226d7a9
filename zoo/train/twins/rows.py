"""
Writes rows by rule that teach the detector to choose among a generator's candidates::

    python -m parlai_q2.zoo.train.twins.rows --replies reply.train.jsonl.xz \
      --pairs cons.train.jsonl.xz --outdir data

Twins and entailments in other words go to ``twins.train.jsonl.gz``, shuffled. Held-out
twins, of constructions that no other row has, go to ``twins.valid.jsonl.gz``.
docs/training.md names the sources and their licences.
"""

import argparse
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from parlai_q2.zoo.train.rows import read_rows, write_rows
from parlai_q2.zoo.train.twins.additions import addition
from parlai_q2.zoo.train.twins.facts import fact_twin
from parlai_q2.zoo.train.twins.phrases import phrase_twin
from parlai_q2.zoo.train.twins.quantities import quantity_twins
from parlai_q2.zoo.train.twins.service import service
from parlai_q2.zoo.train.twins.sources import (
    GROUNDED,
    Row,
    Sentence,
    far,
    of_people,
    overlap,
    sentences,
)
from parlai_q2.zoo.train.twins.talk import beside
from parlai_q2.zoo.train.twins.turned import turned_twins
from parlai_q2.zoo.train.twins.twin import Twin, ended, typed

if TYPE_CHECKING:
    from spacy.tokens import Doc

SEED = 5
SENTENCES = 20000
# At most so many of each kind.
MOST = {
    'swap': 900, 'heads': 250, 'repeat': 350, 'voice': 900, 'comparison': 300,
    'unit': 500, 'numbers exchanged': 400, 'number': 700, 'phrase': 2600,
    'addition': 600, 'reply phrase': 900, 'reply number': 300, 'reply unit': 150,
    'reply numbers exchanged': 100, 'reply addition': 400,
}  # fmt: skip
TWO_PARTS, FACTS, SERVICE, PEOPLE, FAR = 600, 4600, 1800, 2600, 1400
HELD = 300
TALK = 0.25  # the share with small talk beside the claim
# Of these, people said nothing about the world; they may stand beside a claim.
CHATTER = ('d-gen-cmu', 'd-gen-tc', 'd-gen-convai')
CHATTER_WORDS = 14
ADDITIONS = 0.15  # the share of sentences to which something is added
# Longer texts are left out: most of a step's time would go to them.
KNOWLEDGE_WORDS, RESPONSE_WORDS = 48, 34
Pair = tuple[str, Twin]


def changed(one: Sentence, doc: 'Doc', rng: random.Random) -> list[Twin]:
    """All twins of a sentence and of the reply beside it."""
    text = doc.text.strip()
    found = [*turned_twins(doc, rng), *quantity_twins(text, rng)]
    found += filter(None, [phrase_twin(text, rng)])
    if rng.random() < ADDITIONS:
        found += filter(None, [addition(text, one.knowledge, rng)])
    if one.reply and overlap(one.reply, one.knowledge) >= GROUNDED:
        made: list[Twin | None] = [phrase_twin(one.reply, rng, one.knowledge)]
        made += quantity_twins(one.reply, rng)
        if rng.random() < ADDITIONS:
            made.append(addition(one.reply, one.knowledge, rng))
        found += [t._replace(kind=f'reply {t.kind}') for t in made if t]
    return found


def by_rule(given: Sequence[Sentence], rng: random.Random) -> list[Pair]:
    """Twins by rule, at most :data:`MOST` of a kind."""
    from parlai_q2.text.pipeline import pipeline

    found: dict[str, list[Pair]] = defaultdict(list)
    docs = pipeline(lemmas=True).pipe(one.text for one in given)
    for one, doc in zip(given, docs, strict=True):
        first = next(doc.sents, None)
        if first is not None and len(first) > 5:
            doc = first.as_doc() if one.source == 'reply' else doc
            for twin in changed(one, doc, rng):
                found[twin.kind].append((one.knowledge, twin))
    chosen: list[Pair] = []
    for kind, pairs in found.items():
        chosen += rng.sample(pairs, min(MOST[kind], len(pairs)))
    return chosen


def two_parts(pairs: Sequence[Pair], rng: random.Random) -> Iterator[Pair]:
    """Two pieces of knowledge and two claims, of which one is wrong."""
    for _ in range(TWO_PARTS):
        (one, first), (other, second) = rng.sample(pairs, 2)
        right = f'{ended(first.right)} {second.right}'
        if rng.random() < 0.5:
            wrong, y = f'{ended(first.wrong)} {second.right}', first.y
        else:
            wrong, y = f'{ended(first.right)} {second.wrong}', second.y
        yield f'{ended(one)} {other}', Twin('two parts', right, wrong, y)


def dressed(
    knowledge: str, twin: Twin, rng: random.Random, chatter: Sequence[str] = ()
) -> Row:
    """
    A row of a twin, both sides dressed alike.

    :param chatter: what people said beside a claim; none for what :mod:`.talk` has.
    """
    sides = [twin.right, twin.wrong]
    seed, talk = rng.random(), rng.random() < TALK
    for n, text in enumerate(sides):
        alike = random.Random(seed)
        sides[n] = typed(beside(text, alike, chatter) if talk else text, alike)
    right, wrong = sides
    return {
        'p': knowledge,
        'h': right,
        'wrong': wrong,
        'y': 0,
        'y_wrong': twin.y,
        'src': twin.kind,
    }


def twin_rows(
    replies: Sequence[Row], pairs: Sequence[Row], rng: random.Random
) -> list[Row]:
    """All twins as rows, shuffled."""
    given = sentences(replies, pairs, SENTENCES, rng)
    found = by_rule(given, rng)
    found += two_parts(found, rng)
    made = [fact_twin(rng) for _ in range(FACTS)]
    found += made + list(two_parts(made, rng))
    served = (service(rng) for _ in range(SERVICE))
    found += [(s.knowledge, Twin('service', s.right, s.wrong)) for s in served]
    people = list(of_people(pairs, rng))
    found += rng.sample(people, min(PEOPLE, len(people)))
    chatter = [
        row['h']
        for row in pairs
        if row['src'] in CHATTER and 2 <= len(row['h'].split()) <= CHATTER_WORDS
    ]
    rows = [dressed(knowledge, twin, rng, chatter) for knowledge, twin in found]
    rng.shuffle(rows)
    return [row for row in rows if is_short(row)]


def is_short(row: Row) -> bool:
    responses = (row['h'], row.get('wrong', ''))
    return len(row['p'].split()) <= KNOWLEDGE_WORDS and all(
        len(text.split()) <= RESPONSE_WORDS for text in responses
    )


def write_folds(outdir: Path, name: str, folds: Mapping[str, Sequence[Row]]) -> None:
    """Write each fold to ``{name}.{fold}.jsonl.gz``, and log of which kinds it is."""
    for fold, rows in folds.items():
        path = outdir / f'{name}.{fold}.jsonl.gz'
        kinds = dict(Counter(row['src'] for row in rows).most_common(12))
        print(f'{write_rows(path, rows)} rows: {path}; {kinds}')


def main(argv: Sequence[str] | None = None) -> None:
    """Write the rows."""
    parser = argparse.ArgumentParser(description='Rows of twins')
    parser.add_argument('--replies', required=True, help='turns with k and r')
    parser.add_argument('--pairs', required=True, help='rows with p, h, y and src')
    parser.add_argument('--outdir', type=Path, required=True)
    args = parser.parse_args(argv)
    rng = random.Random(SEED)
    replies, pairs = read_rows(args.replies), read_rows(args.pairs)
    twins = twin_rows(replies, pairs, rng)
    held = [dressed(*fact_twin(rng, held=True), rng) for _ in range(HELD)]
    others = [
        {**row, 'src': f'far {row["src"]}'} for row in far(pairs) if is_short(row)
    ]
    others = rng.sample(others, min(FAR, len(others)))
    rows = rng.sample([*twins, *others], len(twins) + len(others))
    write_folds(args.outdir, 'twins', {'train': rows, 'valid': held})


if __name__ == '__main__':
    main()
