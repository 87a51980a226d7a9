"""
Where twins come from: sentences that knowledge entails, to be changed by rule, and
responses that people wrote under one premise.
"""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from parlai_q2.zoo.train.twins.twin import Twin

Row = dict[str, Any]
# Pairs with a publisher's entailments that are sentences of their own.
ENTAILED = frozenset(
    [
        'lingnli',
        'mnli',
        'd-wsplit',
        'fever',
        'd-fever',
        'fever-rte',
        'd-fever-rte',
        'wice',
        'd-wice',
        'd-fm2',
        'fool-me-twice',
        'rte',
        'scitail',
        'taxinli',
        'healthver',
        'climate-fever',
        'd-syn-two-swap',
    ]
)
# Of these, people say a premise in other words.
PARAPHRASES = frozenset(
    [
        'lingnli',
        'mnli',
        'scitail',
        'rte',
        'taxinli',
        'healthver',
        'wice',
        'd-wice',
        'd-fever-rte',
    ]
)
PARAPHRASE_OVERLAP, PARAPHRASE_WORDS = 0.5, 5
# Left out: ANLI (CC BY-NC 4.0); verbs and adjectives put at random, of which some mean
# the same; responses of other passages, which overlap betrays; judgements of degree.
LEFT_OUT = frozenset(
    [
        'anli',
        'd-syn-verb',
        'd-syn-ant',
        'd-syn-random',
        'd-syn-samedoc',
        'd-syn-opinion',
        'joci',
        'help',
        'med',
        'mpe',
        'conjnli-adv',
        'wikiresnli',
        'dnc',
        'breaking-nli',
    ]
)
PER_SOURCE = 450
# How much more of its words the right one may have from the knowledge than the wrong.
MORE_OVERLAP = 0.05
# The share of a reply's words that its knowledge has, for its phrases to be changed.
GROUNDED = 0.75


class Sentence(NamedTuple):
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
) -> list[Sentence]:
    """
    Sentences to change, shuffled.

    :param replies: turns with ``k`` (knowledge) and ``r`` (a reply).
    :param pairs: rows with ``p``, ``h``, ``y`` and ``src``.
    :param max_count: how many there are at most of either.
    """
    by_knowledge = {r['k']: r for r in replies if 7 <= len(r['k'].split()) <= 45}
    passages = [Sentence(k, k, 'reply', r['r']) for k, r in by_knowledge.items()]
    entailed = [
        Sentence(row['p'], row['h'], row['src'])
        for row in pairs
        if row['y'] == 0
        and row['src'] in ENTAILED
        and 6 <= len(row['h'].split()) <= 30
        and len(row['p'].split()) <= 70
    ]
    chosen: list[Sentence] = []
    for part in (passages, entailed):
        chosen += rng.sample(part, min(max_count, len(part)))
    rng.shuffle(chosen)
    return chosen


def find_human_twins(
    pairs: Sequence[Row], rng: random.Random
) -> Iterator[tuple[str, Twin]]:
    """
    Premises with a right and a wrong response of which people wrote at least the right
    one. The wrong one has as many of its words from the premise: overlap tells nothing.
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
        # Answers alone, not sentences.
        if not right['src'].startswith('aeq'):
            count_by_source[source] += 1
            yield premise, Twin(f'people {source}', right['h'], wrong['h'], wrong['y'])


def find_paraphrases(pairs: Sequence[Row]) -> list[Row]:
    """Entailed responses that have few of their premise's words."""
    return [
        row
        for row in pairs
        if row['y'] == 0
        and row['src'] in PARAPHRASES
        and len(row['p'].split()) <= 60
        and PARAPHRASE_WORDS <= len(row['h'].split()) <= 40
        and overlap(row['h'], row['p']) < PARAPHRASE_OVERLAP
    ]
