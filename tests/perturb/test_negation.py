"""Negation, by hand: what is negated, how, and what is left alone."""

import random

import pytest

from parlai_q2.perturb.negation import negate, negation_sites


def outcomes(text):
    """All that negation makes of a text, over many draws."""
    negations = [negate(text, random.Random(seed)) for seed in range(60)]
    return {n.text for n in negations if n}


@pytest.mark.parametrize(
    'text, expected',
    [
        ('It is red.', {'It is not red.', "It isn't red."}),
        ('They can fly.', {'They cannot fly.', "They can't fly."}),
        # No contraction in statements.
        ('They will win.', {'They will not win.'}),
        # A main verb is negated too, as in the published recipe.
        ('It has wings.', {'It has not wings.', "It hasn't wings."}),
        # Of a chain, the first.
        (
            'It would have been red.',
            {'It would not have been red.'} | {"It wouldn't have been red."},
        ),
        # Before its subject an auxiliary takes "n't".
        ('Is it red?', {"Isn't it red?"}),
        ('Will you come?', {"Won't you come?"}),
        ('what is it made of', {"what isn't it made of"}),
        # "May not I" and "mayn't I" are both no English.
        ('May I come in?', set()),
        ('May we ask: is it red?', {"May we ask: isn't it red?"}),
        # The second verb is none.
        ('Do you have a favorite type?', {"Don't you have a favorite type?"}),
        # A statement is rather negated than a question.
        (
            'Was it red? It was blue.',
            {'Was it red? It was not blue.'} | {"Was it red? It wasn't blue."},
        ),
        # A capital stays one.
        ('"Is it red?" he asked.', {'"Isn\'t it red?" he asked.'}),
        ('Cats. Can climb.', {'Cats. Cannot climb.', "Cats. Can't climb."}),
        # Of words that are nouns or verbs too, only auxiliaries.
        (
            'it was released in may 2010 .',
            {'it was not released in may 2010 .'}
            | {"it wasn't released in may 2010 ."},
        ),
        ('Free will is red.', {'Free will is not red.', "Free will isn't red."}),
        # A negation is taken back.
        ("Don't go.", {'Do go.'}),
        ('It is not red.', {'It is red.'}),
        ("It isn't red.", {'It is red.'}),
        ("it is n't red .", {'it is red .'}),
        ("they ca n't fly .", {'they can fly .'}),
        ('They cannot fly.', {'They can fly.'}),
        ("Can't they fly?", {'Can they fly?'}),
        ("It wouldn't have been red.", {'It would have been red.'}),
    ],
)
def test_what_negation_makes_of_a_text(text, expected):
    assert outcomes(text) == expected


@pytest.mark.parametrize(
    'text',
    [
        '',
        'Six legs and two wings.',
        # "wo" is none of the auxiliaries.
        "They won't win.",
        "It's red, and they've seen it.",
        # Names and months.
        'Born on 4 May 1969 to Will Smith.',
        'Will Smith sang.',
        'May 1969 saw it.',
        'IS IT',
        # Parts of other words.
        'A must-see and a has-been. Canned. Mayor. Dodo. California, ca.',
        # A negation follows already.
        'It has no wings.',
        'They are never late.',
        'There is nothing like it.',
        'They have none.',
        # After "to" neither form can stand.
        'It wants to have wings.',
        # Nouns, and the month in lower case.
        'Free, in late may 2010, of may and a may 5.',
        'They saw a free will . It comes in a tin can .',
        'The might of her will. Broke at will. A must',
        # Verbs of their own.
        'He does the cooking. She did it. They had two.',
        'It has its headquarters in Ulm. We have to go. I have 3.',
        'They didnt have enough money. Bees dont really have ears.',
    ],
)
def test_what_cannot_be_negated_is_left_alone(text):
    assert negation_sites(text) == []
    assert outcomes(text) == set()
