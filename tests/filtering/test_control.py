"""Control tokens say what a response is like."""

import pytest

from parlai_q2.claims import Score
from parlai_q2.filtering.control import (
    LOW,
    PrecisionGroups,
    control_tokens,
    first_person,
    lexical_precision,
    terciles,
)
from parlai_q2.turns import Example

GROUPS = PrecisionGroups(0.3, 0.6)
KNOWLEDGE = 'Bees have five eyes.'


@pytest.mark.parametrize(
    'response, speaks',
    [
        ('I think so', True),
        ("i'm sure", True),
        ('tell me', True),
        ('That is mine.', True),
        ('my, my', True),
        ('by myself', True),
        # The plural is no first person singular; a letter in a word is no pronoun.
        ('we like it', False),
        ('World War I ended in 1918.', False),
        ('Before the war I lived in Rome.', True),
        ('Use a metal, i.e. iron.', False),
        ('Mermaid myth in Miami', False),
        ('', False),
    ],
)
def test_first_person_is_a_word_of_its_own(response, speaks):
    assert first_person(response) is speaks


@pytest.mark.parametrize(
    'response, precision',
    [
        ('bees have five eyes', 1.0),
        ('they have five legs', 0.5),
        ('who knows', 0.0),
        ('', 0.0),
    ],
)
def test_lexical_precision_is_the_share_of_known_words(response, precision):
    assert lexical_precision(Example(KNOWLEDGE, response)) == precision


@pytest.mark.parametrize(
    'response, label, tokens',
    [
        ('bees have five eyes', 'consistent', 'no-first-person high-prec entailed'),
        (
            'they have five legs',
            'inconsistent',
            'no-first-person med-prec non-entailed',
        ),
        ('I love honey', 'generic', 'first-person low-prec non-entailed'),
    ],
)
def test_the_three_tokens_of_a_response(response, label, tokens):
    found = control_tokens(Example(KNOWLEDGE, response), Score(0.9, label), GROUPS)
    speaker, precision, entailment = tokens.split()
    assert found == [f'<{speaker}>', f'<{precision}>', f'<{entailment}>']


def test_a_response_without_knowledge_is_not_precise():
    groups = PrecisionGroups(0.0, 0.0)
    assert LOW in control_tokens(Example('', 'So do bees.'), None, groups)


@pytest.mark.parametrize(
    'values, groups',
    [
        # Nine values, three each: 0 .1 .2 | .3 .4 .5 | .6 .7 .8
        ([n / 10 for n in range(9)], (0.3, 0.6)),
        # Two thirds are copies: the highest group has them all, and the middle none.
        ([0.0, 0.5, 1.0, 1.0, 1.0, 1.0], (1.0, 1.0)),
        ([0.4], (0.4, 0.4)),
    ],
)
def test_terciles(values, groups):
    tokens = terciles(values[::-1])
    assert (tokens.medium, tokens.high) == groups
    # What is asked for at inference was seen in training.
    assert '<high-prec>' in [tokens.token(v) for v in values]
