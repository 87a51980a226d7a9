"""Where the knowledge of a ParlAI message is found."""

import pytest

from parlai_q2.io.knowledge import find_knowledge, find_passages


@pytest.mark.parametrize(
    'message, expected, why',
    [
        (
            {'checked_sentence': 'A', 'knowledge': 'B'},
            'A',
            'what was chosen comes first',
        ),
        ({'checked_sentence': '', 'knowledge': 'B'}, 'B', 'then what was shown'),
        (
            {'checked_sentence': 'no_passages_used', 'knowledge': 'B'},
            'B',
            'WoW: none used',
        ),
        ({'checked_sentence': ['A', 'B']}, 'A\nB', 'several sentences'),
        ({'knowledge': ' no_passages_used\n A '}, 'A', 'white space around them'),
        (
            {'knowledge': 'T __knowledge__ S1.\nU __knowledge__ S2.'},
            'S1.\nS2.',
            'titles are taken off',
        ),
        (
            {
                'knowledge': 'no_passages_used __knowledge__ no_passages_used\n'
                'T __knowledge__ S'
            },
            'S',
            'the line for none used is no knowledge',
        ),
        ({'text': '__knowledge__ K __endknowledge__\nhi'}, 'K', 'marked in the text'),
        ({'text': 'hi'}, None, 'none at all'),
        ({}, None, 'an empty message'),
        ({'knowledge': None, 'text': None}, None, 'empty fields'),
    ],
)
def test_find_knowledge(message, expected, why):
    assert find_knowledge(message) == expected, why


@pytest.mark.parametrize(
    'text, delimiter, expected',
    [
        ('passage\nquestion?', '\n', 'passage'),
        ('one\ntwo\nquestion?', '\n', 'one\ntwo'),
        ('question?', '\n', None),
        ('passage\nquestion?', None, None),
    ],
)
def test_a_passage_in_the_text_by_a_delimiter(text, delimiter, expected):
    assert find_knowledge({'text': text}, delimiter) == expected


@pytest.mark.parametrize(
    'message, expected, why',
    [
        ({'x_turn': {'knowledge': 'K'}}, 'K', 'where the jsonfile teacher keeps it'),
        ({'x_turn': {'knowledge': 'K'}, 'knowledge': 'own'}, 'own', 'own fields first'),
        (
            {
                'x_turn': {'checked_sentence': 'no_passages_used'},
                'text': '__knowledge__ T __endknowledge__',
            },
            'T',
            'none there, then the text',
        ),
        (
            {'x_turn': {'text': '__knowledge__ T __endknowledge__'}},
            None,
            'the text of a turn is what was said, and no knowledge',
        ),
        ({'x_turn': 'K'}, None, 'no fields'),
        ({'knowledge': 1969}, '1969', 'a number'),
    ],
)
def test_the_fields_of_a_turn_are_looked_into(message, expected, why):
    assert find_knowledge(message) == expected, why


@pytest.mark.parametrize(
    'message, passages',
    [
        # As Wizard of Wikipedia sends what was shown: a line for each sentence.
        (
            {
                'knowledge': 'no_passages_used __knowledge__ no_passages_used\n'
                'Bee __knowledge__ Bees fly.\nBee __knowledge__ They dance.\n'
                'Ant __knowledge__ Ants walk.\n'
            },
            [('Bees fly.\nThey dance.', 'Bee'), ('Ants walk.', 'Ant')],
        ),
        ({'knowledge': 'One text.\nTwo lines.'}, [('One text.\nTwo lines.', '')]),
        ({'knowledge': ['One.', 'Two.']}, [('One.', ''), ('Two.', '')]),
        ({'text': 'hi\n__knowledge__ One. __endknowledge__'}, [('One.', '')]),
        ({'checked_sentence': 'One.', 'knowledge': 'Two.'}, [('One.', '')]),
        ({'x_turn': {'knowledge': ['One.', 'Two.']}}, [('One.', ''), ('Two.', '')]),
        ({'text': 'hello'}, []),
    ],
)
def test_the_passages_of_a_message(message, passages):
    found = find_passages(message)
    assert [tuple(p) for p in found] == passages
    assert '\n'.join(p.text for p in found) == (find_knowledge(message) or '')
