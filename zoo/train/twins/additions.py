"""
Twins by addition: a name, a number, a place or a claim that the knowledge does not
have.
"""

import random
import re

from parlai_q2.zoo.train.twins.twin import UNSUPPORTED, Twin

NAMES = (
    'Maria Keller', 'John Whitfield', 'Akira Mori', 'Sofia Lindqvist', 'Paul Okafor',
    'Elena Petrova', 'Thomas Reid', 'Lucia Moretti', 'David Cohen', 'Anna Novak',
)  # fmt: skip
PLACES = (
    'Portugal', 'Chicago', 'Norway', 'Melbourne', 'Kenya', 'Vienna', 'Texas', 'Seoul',
    'Brazil', 'Manchester', 'Poland', 'Cairo', 'Quebec', 'Naples', 'Singapore',
)  # fmt: skip
CLAIMS = (
    'and it won several awards', 'and it was a huge commercial success',
    'which made it famous all over the world', 'and it is still in use today',
    'although many people disagree', 'and scientists confirmed this in {year}',
    'because the government paid for it', 'and it was later turned into a film',
    'mainly for religious reasons', 'and it costs around {n} dollars',
    'after a long court case', 'as {name} once said', 'together with {name}',
    'in {place}', 'since {year}', 'for {n} years', 'by {name}', 'and also in {place}',
    'which was first described by {name}', 'and more than {n} people took part',
    'and it is especially popular in {place}', 'and doctors recommend it',
    'and it is going to be replaced in {year}', 'which is why it was banned in {place}',
)  # fmt: skip


def addition_twin(text: str, knowledge: str, rng: random.Random) -> Twin | None:
    """
    A text with something at its end that the knowledge does not say; beside it the text
    as it was.
    """
    claim = rng.choice(CLAIMS).format(
        name=rng.choice(NAMES),
        place=rng.choice(PLACES),
        year=rng.randint(1890, 2021),
        n=rng.choice((12, 15, 30, 45, 80, 150, 300, 2000)),
    )
    knowledge_words = set(re.findall(r'\w+', knowledge.lower()))
    new_words = set(re.findall(r'\w{4,}|\d+', claim.lower())) - knowledge_words
    stem = text.rstrip(' .!')
    if not new_words or text.rstrip().endswith('?') or len(stem.split()) < 3:
        return None
    comma = ',' if claim.startswith(('and', 'which', 'although')) else ''
    return Twin('addition', text, f'{stem}{comma} {claim}.', UNSUPPORTED)
