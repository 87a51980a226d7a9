"""
Writes the rows that teach the detector to choose among a generator's candidates::

    python -m parlai_q2.zoo.train.twins.rows --replies reply.train.jsonl.xz \
      --pairs cons.train.jsonl.xz --outdir data

Three kinds of rows go to ``twins.train.jsonl.gz``, shuffled: twins; entailments in
other words; and the old rows, people's replies and candidates of generators, with the
mean probabilities of the teachers, so that the model keeps what it knows. Held-out
twins, of constructions that no other row has, go to ``twins.valid.jsonl.gz``.
docs/training.md names the sources and their licences.
"""

import argparse
import random
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Iterator, Mapping, Optional, Sequence

import torch
from parlai.utils import logging

from parlai_q2.models.protocols import NliModel
from parlai_q2.zoo.train.data import read_rows, write_rows
from parlai_q2.zoo.train.twins.additions import addition
from parlai_q2.zoo.train.twins.facts import fact_twin
from parlai_q2.zoo.train.twins.phrases import phrase_twin
from parlai_q2.zoo.train.twins.quantities import quantity_twins
from parlai_q2.zoo.train.twins.service import service
from parlai_q2.zoo.train.twins.sources import (
    GROUNDED,
    LEFT_OUT,
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
OLD, PER_SOURCE, HUMAN, HELD = 3600, 260, 1500, 300
TALK = 0.25  # the share with small talk beside the claim
# Of these, people said nothing about the world; they may stand beside a claim.
CHATTER = ('d-gen-cmu', 'd-gen-tc', 'd-gen-convai')
CHATTER_WORDS = 14
ADDITIONS = 0.15  # the share of sentences to which something is added
TEACHERS = ('mini', 'base')
# Longer texts are left out: most of a step's time would go to them.
KNOWLEDGE_WORDS, RESPONSE_WORDS = 48, 34
# A person's reply is taken as grounded at this support, and then taught half as that.
SUPPORTED, ENTAILED = 0.25, (0.97, 0.01, 0.01, 0.01)
CANDIDATE = 'candidate'
Pair = tuple[str, Twin]


def changed(one: Sentence, doc: 'Doc', rng: random.Random) -> list[Twin]:
    """All twins of a sentence and of the reply beside it."""
    text = doc.text.strip()
    found = [*turned_twins(doc, rng), *quantity_twins(text, rng)]
    found += filter(None, [phrase_twin(text, rng)])
    if rng.random() < ADDITIONS:
        found += filter(None, [addition(text, one.knowledge, rng)])
    if one.reply and overlap(one.reply, one.knowledge) >= GROUNDED:
        made: list[Optional[Twin]] = [phrase_twin(one.reply, rng, one.knowledge)]
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


def old_rows(
    replies: Sequence[Row],
    pairs: Sequence[Row],
    teachers: Sequence[NliModel],
    rng: random.Random,
    candidates: Sequence[Row] = (),
) -> list[Row]:
    """
    Old rows, people's replies and candidates with ``z``, the logarithms of the mean
    probabilities that the teachers give them. A reply that they support a little is
    taught as half entailed: people say what is right in other words.
    """
    taken: Counter[tuple[str, int]] = Counter()
    old: list[Row] = []
    for row in rng.sample(list(pairs), len(pairs)):
        kind = (row['src'], row['y'])
        if row['src'] not in LEFT_OUT and is_short(row) and taken[kind] < PER_SOURCE:
            taken[kind] += 1
            old.append(row)
    said = [{'p': r['k'], 'h': r['r'], 'y': 0, 'src': 'human'} for r in replies]
    said = [r for r in said if is_short(r) and len(r['p'].split()) > 5]
    rows = rng.sample(old, min(OLD, len(old))) + rng.sample(said, min(HUMAN, len(said)))
    return taught([*rows, *candidates], teachers)


def candidates_of(pools: Sequence[Row]) -> list[Row]:
    """
    The candidates of pools, as they are judged under their ``knowledge``: rows without
    a class, for :func:`taught`.

    :param pools: lines that ``parlai_q2 rerank`` reads, ``candidates`` as texts.
    """
    found = {
        (' '.join(pool['knowledge'].split()), candidate): None
        for pool in pools
        for candidate in pool['candidates']
    }
    rows = [{'p': p.lower(), 'h': h.lower(), 'src': CANDIDATE} for p, h in found]
    return [row for row in rows if is_short(row)]


def taught(rows: Sequence[Row], teachers: Sequence[NliModel]) -> list[Row]:
    """Rows with the teachers' ``z``, and their class where a row has none."""
    asked = [(row['p'].lower(), row['h'].lower()) for row in rows]
    found = torch.tensor([teacher.classify(asked) for teacher in teachers]).mean(0)
    done = []
    for row, p in zip(rows, found, strict=True):
        said = row['src'] == 'human' and p.argmax() != 3
        if said and p[0] / p[:3].sum() > SUPPORTED:
            p = (p + torch.tensor(ENTAILED)) / 2
        if row['src'] in ('human', CANDIDATE):
            row = {**row, 'y': int(p.argmax())}
        z = p.clamp_min(1e-5).log().tolist()
        done.append({**row, 'z': [round(value, 3) for value in z]})
    return done


def write_folds(outdir: Path, name: str, folds: Mapping[str, Sequence[Row]]) -> None:
    """Write each fold to ``{name}.{fold}.jsonl.gz``, and log of which kinds it is."""
    for fold, rows in folds.items():
        path = outdir / f'{name}.{fold}.jsonl.gz'
        kinds = dict(Counter(row['src'] for row in rows).most_common(12))
        logging.info(f'{write_rows(path, rows)} rows: {path}; {kinds}')


def main(argv: Optional[Sequence[str]] = None) -> None:
    """Write the rows."""
    from parlai_q2.presets import load_preset, with_detector
    from parlai_q2.scorers import backends

    parser = argparse.ArgumentParser(description='Rows of twins')
    parser.add_argument('--replies', required=True, help='turns with k and r')
    parser.add_argument('--pairs', required=True, help='rows with p, h, y and src')
    parser.add_argument(
        '--teachers',
        nargs='+',
        default=TEACHERS,
        help='presets or folders of detectors; their mean teaches the old rows',
    )
    parser.add_argument(
        '--candidates', help='pools as "parlai_q2 rerank" reads them, for the teachers'
    )
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
    mini = load_preset('mini')
    teachers = [backends.detector(with_detector(mini, name)) for name in args.teachers]
    pools = read_rows(args.candidates) if args.candidates else []
    others += old_rows(replies, pairs, teachers, rng, candidates_of(pools))
    rows = rng.sample([*twins, *others], len(twins) + len(others))
    write_folds(args.outdir, 'twins', {'train': rows, 'valid': held})


if __name__ == '__main__':
    main()
