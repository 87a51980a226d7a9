"""
Writes rows by rule that teach the detector to choose among a generator's candidates::

    python -m parlai_q2.zoo.train.twins.by_rule --replies reply.train.jsonl.xz \
      --pairs cons.train.jsonl.xz --outdir data

Twins are made of sentences that knowledge entails, changed by rule, and of responses
that people wrote under one premise. Twins and entailments in other words go to
``twins.train.jsonl.gz``, shuffled. Held-out twins, of constructions that no other row
has, go to ``twins.valid.jsonl.gz``. zoo/q2_mini/README.md names the sources and their
licences.
"""

import argparse
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from parlai_q2.zoo.train.rows import Row, read_rows, write_rows
from parlai_q2.zoo.train.twins.facts import SERVICE, fact_twin, load_pools
from parlai_q2.zoo.train.twins.phrases import addition_twin, phrase_twin
from parlai_q2.zoo.train.twins.quantities import quantity_twins
from parlai_q2.zoo.train.twins.turned import turned_twins
from parlai_q2.zoo.train.twins.twin import Twin, end_sentence

if TYPE_CHECKING:
    from spacy.tokens import Doc

# Pairs with a publisher's entailments that are sentences of their own.
ENTAILED = frozenset(
    """
    lingnli mnli d-wsplit fever d-fever fever-rte d-fever-rte wice d-wice d-fm2
    fool-me-twice rte scitail taxinli healthver climate-fever d-syn-two-swap
    """.split()
)
# Sources in which people paraphrase a premise.
PARAPHRASES = frozenset(
    """
    lingnli mnli scitail rte taxinli healthver wice d-wice d-fever-rte
    """.split()
)
PARAPHRASE_OVERLAP, PARAPHRASE_WORDS = 0.5, 5
# Left out: ANLI (CC BY-NC 4.0); verbs and adjectives put at random, of which some mean
# the same; responses of other passages, which overlap betrays; judgements of degree.
LEFT_OUT = frozenset(
    """
    anli d-syn-verb d-syn-ant d-syn-random d-syn-samedoc d-syn-opinion joci help med mpe
    conjnli-adv wikiresnli dnc breaking-nli
    """.split()
)
PER_SOURCE = 450
# The margin by which the right one may have more words from the knowledge.
MORE_OVERLAP = 0.05
# The share of a reply's words that its knowledge has, for its phrases to be changed.
GROUNDED = 0.75


class TwinSentence(NamedTuple):
    """
    A sentence that is to be changed.

    :param knowledge: what entails it.
    :param reply: a person's reply under the knowledge; empty if there is none.
    """

    knowledge: str
    text: str
    source: str
    reply: str = ''


def words(text: str) -> set[str]:
    return set(re.findall(r'\w+', text.lower()))


def overlap(text: str, knowledge: str) -> float:
    """The share of a text's words that its knowledge has, in [0, 1]."""
    text_words = words(text)
    return len(text_words & words(knowledge)) / max(1, len(text_words))


def choose_sentences(
    replies: Sequence[Row], pairs: Sequence[Row], max_count: int, rng: random.Random
) -> list[TwinSentence]:
    """
    Choose sentences to change, in random order.

    :param replies: turns with ``k`` (knowledge) and ``r`` (a reply).
    :param pairs: rows with ``p``, ``h``, ``y`` and ``src``.
    :param max_count: the maximum number of each.
    """
    by_knowledge = {r['k']: r for r in replies if 7 <= len(r['k'].split()) <= 45}
    passages = [TwinSentence(k, k, 'reply', r['r']) for k, r in by_knowledge.items()]
    entailed = [
        TwinSentence(row['p'], row['h'], row['src'])
        for row in pairs
        if row['y'] == 0
        and row['src'] in ENTAILED
        and 6 <= len(row['h'].split()) <= 30
        and len(row['p'].split()) <= 70
    ]
    chosen: list[TwinSentence] = []
    for part in (passages, entailed):
        chosen += rng.sample(part, min(max_count, len(part)))
    rng.shuffle(chosen)
    return chosen


def find_human_twins(
    pairs: Sequence[Row], rng: random.Random
) -> Iterator[tuple[str, Twin]]:
    """
    Find premises with a right and a wrong response, of which people wrote at least the
    right one. The wrong one has as many words of the premise, so overlap does not tell
    them apart.
    """
    by_premise: dict[str, tuple[list[Row], list[Row]]] = defaultdict(lambda: ([], []))
    for row in pairs:
        if (
            row['src'] not in LEFT_OUT
            and row['y'] != 3
            and len(row['p'].split()) <= 60
            and 3 <= len(row['h'].split()) <= 40
        ):
            by_premise[row['p']][row['y'] != 0].append(row)
    count_by_source: Counter[str] = Counter()
    premises = list(by_premise)
    rng.shuffle(premises)
    for premise in premises:
        entailed, not_entailed = by_premise[premise]
        if not entailed or not not_entailed:
            continue
        right = min(entailed, key=lambda row: overlap(row['h'], premise))
        wrong = max(not_entailed, key=lambda row: overlap(row['h'], premise))
        overlap_gap = overlap(right['h'], premise) - overlap(wrong['h'], premise)
        source = wrong['src']
        if overlap_gap > MORE_OVERLAP or count_by_source[source] >= PER_SOURCE:
            continue
        # These are answers alone, not sentences.
        if not right['src'].startswith('aeq'):
            count_by_source[source] += 1
            yield premise, Twin(f'people {source}', right['h'], wrong['h'], wrong['y'])


def find_paraphrases(pairs: Sequence[Row]) -> list[Row]:
    """Find entailed responses that share few words with their premise."""
    return [
        row
        for row in pairs
        if row['y'] == 0
        and row['src'] in PARAPHRASES
        and len(row['p'].split()) <= 60
        and PARAPHRASE_WORDS <= len(row['h'].split()) <= 40
        and overlap(row['h'], row['p']) < PARAPHRASE_OVERLAP
    ]


SEED = 5
SENTENCES = 20000
# The maximum number of twins of each kind.
MAX_OF_KIND = {
    'swap': 900, 'heads': 250, 'repeat': 350, 'voice': 900, 'comparison': 300,
    'unit': 500, 'numbers exchanged': 400, 'number': 700, 'phrase': 2600,
    'addition': 600, 'reply phrase': 900, 'reply number': 300, 'reply unit': 150,
    'reply numbers exchanged': 100, 'reply addition': 400,
}  # fmt: skip
TWO_PARTS, FACT_TWINS, SERVICE_TWINS = 600, 4600, 1800
PEOPLE, PARAPHRASE_ROWS = 2600, 1400
HELD_OUT_TWINS = 300
SMALL_TALK_SHARE = 0.25  # the share with small talk beside the claim
FILE_SHARE = 0.4  # the share with that of the pools where there is other small talk
# Sources of human small talk, which may stand beside a claim.
CHATTER = ('d-gen-cmu', 'd-gen-tc', 'd-gen-convai')
CHATTER_WORDS = 14
ADDITIONS = 0.15  # the share of sentences to which something is added
# Longer texts are left out: most of a step's time would go to them.
KNOWLEDGE_WORDS, RESPONSE_WORDS = 48, 34
Pair = tuple[str, Twin]


def make_twins(sentence: TwinSentence, doc: 'Doc', rng: random.Random) -> list[Twin]:
    """All twins of a sentence and of the reply beside it."""
    text = doc.text.strip()
    twins = [*turned_twins(doc, rng), *quantity_twins(text, rng)]
    twins += filter(None, [phrase_twin(text, rng)])
    if rng.random() < ADDITIONS:
        twins += filter(None, [addition_twin(text, sentence.knowledge, rng)])
    if sentence.reply and overlap(sentence.reply, sentence.knowledge) >= GROUNDED:
        reply_twins: list[Twin | None] = [
            phrase_twin(sentence.reply, rng, sentence.knowledge)
        ]
        reply_twins += quantity_twins(sentence.reply, rng)
        if rng.random() < ADDITIONS:
            reply_twins.append(addition_twin(sentence.reply, sentence.knowledge, rng))
        twins += [t._replace(kind=f'reply {t.kind}') for t in reply_twins if t]
    return twins


def make_rule_twins(
    sentences: Sequence[TwinSentence], rng: random.Random
) -> list[Pair]:
    """Twins by rule, at most :data:`MAX_OF_KIND` of a kind."""
    from parlai_q2.text.pipeline import pipeline

    pairs_by_kind: dict[str, list[Pair]] = defaultdict(list)
    docs = pipeline(lemmas=True).pipe(sentence.text for sentence in sentences)
    for sentence, doc in zip(sentences, docs, strict=True):
        first = next(doc.sents, None)
        if first is not None and len(first) > 5:
            doc = first.as_doc() if sentence.source == 'reply' else doc
            for twin in make_twins(sentence, doc, rng):
                pairs_by_kind[twin.kind].append((sentence.knowledge, twin))
    chosen: list[Pair] = []
    for kind, pairs in pairs_by_kind.items():
        chosen += rng.sample(pairs, min(MAX_OF_KIND[kind], len(pairs)))
    return chosen


def join_twins(pairs: Sequence[Pair], rng: random.Random) -> Iterator[Pair]:
    """
    Join twins in twos: two pieces of knowledge and two claims, of which one is wrong.
    """
    for _ in range(TWO_PARTS):
        (first_knowledge, first), (second_knowledge, second) = rng.sample(pairs, 2)
        right = f'{end_sentence(first.right)} {second.right}'
        if rng.random() < 0.5:
            wrong, label = f'{end_sentence(first.wrong)} {second.right}', first.label
        else:
            wrong, label = f'{end_sentence(first.right)} {second.wrong}', second.label
        yield (
            f'{end_sentence(first_knowledge)} {second_knowledge}',
            Twin('two parts', right, wrong, label),
        )


def imitate_typing(text: str, rng: random.Random) -> str:
    """Write half of the texts as people type: in lower case, some with no full stop."""
    if rng.random() < 0.5:
        return text
    text = text.lower()
    return text.rstrip(' .') if rng.random() < 0.3 else text


def add_small_talk(text: str, rng: random.Random, chatter: Sequence[str] = ()) -> str:
    """
    Add small talk before a text, after it, or on both sides.

    :param chatter: small talk that people wrote, which most texts then get.
    """
    text = end_sentence(text)
    if chatter and rng.random() > FILE_SHARE:
        remark = end_sentence(rng.choice(chatter))
        return f'{remark} {text}' if rng.random() < 0.7 else f'{text} {remark}'
    pools = load_pools()
    before, after = rng.choice(pools['before']), rng.choice(pools['after'])
    return rng.choice(
        (
            f'{before} {text}',
            f'{before} {text}',
            f'{text} {after}',
            f'{before} {text} {after}',
        )
    )


def make_row(
    knowledge: str, twin: Twin, rng: random.Random, chatter: Sequence[str] = ()
) -> Row:
    """
    Make a row of a twin; both sides get the same small talk and typing.

    :param chatter: small talk that people wrote.
    """
    sides = [twin.right, twin.wrong]
    seed, talk = rng.random(), rng.random() < SMALL_TALK_SHARE
    for n, text in enumerate(sides):
        same_rng = random.Random(seed)
        sides[n] = imitate_typing(
            add_small_talk(text, same_rng, chatter) if talk else text, same_rng
        )
    right, wrong = sides
    return {
        'p': knowledge,
        'h': right,
        'wrong': wrong,
        'y': 0,
        'y_wrong': twin.label,
        'src': twin.kind,
    }


def twin_rows(
    replies: Sequence[Row], pairs: Sequence[Row], rng: random.Random
) -> list[Row]:
    """All twins as rows, shuffled."""
    sentences = choose_sentences(replies, pairs, SENTENCES, rng)
    twins = make_rule_twins(sentences, rng)
    twins += join_twins(twins, rng)
    fact_pairs = [fact_twin(rng) for _ in range(FACT_TWINS)]
    twins += fact_pairs + list(join_twins(fact_pairs, rng))
    twins += [fact_twin(rng, file=SERVICE) for _ in range(SERVICE_TWINS)]
    human_pairs = list(find_human_twins(pairs, rng))
    twins += rng.sample(human_pairs, min(PEOPLE, len(human_pairs)))
    chatter = [
        row['h']
        for row in pairs
        if row['src'] in CHATTER and 2 <= len(row['h'].split()) <= CHATTER_WORDS
    ]
    rows = [make_row(knowledge, twin, rng, chatter) for knowledge, twin in twins]
    rng.shuffle(rows)
    return [row for row in rows if is_short(row)]


def is_short(row: Row) -> bool:
    responses = (row['h'], row.get('wrong', ''))
    return len(row['p'].split()) <= KNOWLEDGE_WORDS and all(
        len(text.split()) <= RESPONSE_WORDS for text in responses
    )


def write_folds(outdir: Path, name: str, folds: Mapping[str, Sequence[Row]]) -> None:
    """Write each fold to ``{name}.{fold}.jsonl.gz``, and print its counts by kind."""
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
    held_out = [
        make_row(*fact_twin(rng, held_out=True), rng) for _ in range(HELD_OUT_TWINS)
    ]
    paraphrases = [
        {**row, 'src': f'far {row["src"]}'}
        for row in find_paraphrases(pairs)
        if is_short(row)
    ]
    paraphrases = rng.sample(paraphrases, min(PARAPHRASE_ROWS, len(paraphrases)))
    rows = rng.sample([*twins, *paraphrases], len(twins) + len(paraphrases))
    write_folds(args.outdir, 'twins', {'train': rows, 'valid': held_out})


if __name__ == '__main__':
    main()
