"""Statements that one sentence joins are split, each with its subject."""

import pytest

from parlai_q2.text.statements import split_statements


@pytest.mark.parametrize(
    'sentence, statements',
    [
        (
            'The ride takes 40 minutes, and a ticket costs 3 euros.',
            ['The ride takes 40 minutes', 'a ticket costs 3 euros.'],
        ),
        (
            'Dogs are welcome; cats are not allowed.',
            ['Dogs are welcome', 'cats are not allowed.'],
        ),
        (
            'Yes, the driver sells tickets and accepts cards, but kiosks do not work.',
            [
                'Yes, the driver sells tickets',
                'Yes, the driver accepts cards',
                'kiosks do not work.',
            ],
        ),
        # What goes with a modal verb, and what does not.
        (
            'You can ring the bell and wait in the lobby.',
            ['You can ring the bell', 'You can wait in the lobby.'],
        ),
        (
            "You can't smoke here and must leave early.",
            ["You can't smoke here", 'You must leave early.'],
        ),
        (
            "It's open daily and offers coffee.",
            ["It's open daily", 'It offers coffee.'],
        ),
        # Clauses whose verbs are not known, also behind a list.
        (
            'Plastic film, foil and nappies fill the grey bin, but paper bought new'
            ' fills the blue one.',
            [
                'Plastic film, foil and nappies fill the grey bin',
                'paper bought new fills the blue one.',
            ],
        ),
        # A condition counts for all of them, unless a comma sets them off.
        (
            'With a ticket, dogs travel free and bicycles need a place in the van.',
            [
                'With a ticket, dogs travel free',
                'With a ticket, bicycles need a place in the van.',
            ],
        ),
        (
            'With a ticket, dogs travel free, but bicycles need a ticket for children.',
            ['With a ticket, dogs travel free', 'bicycles need a ticket for children.'],
        ),
    ],
)
def test_statements_are_split_with_their_subjects(sentence, statements):
    assert split_statements(sentence) == statements


@pytest.mark.parametrize(
    'sentence',
    [
        'It is open on Mondays and Fridays.',
        'Breakfast and lunch are served daily.',
        'Mary, who sings and dances, is a doctor.',
        'The shop closes early because parking and storage cost money.',
        # The end of a list, and what says too little alone.
        'The skis cost 28 euros, boots 12 and a helmet costs 5 euros.',
        'Dogs are welcome, but cats are not.',
        # A phrase, and what happens at the same time.
        'Order by Thursday at the latest, and by phone only.',
        'The campaign can be stopped while it is being sent.',
        '',
    ],
)
def test_other_sentences_are_left_whole(sentence):
    assert split_statements(sentence) == [sentence]
