"""Where the knowledge of a ParlAI message is found."""

import pytest

from parlai_q2.io.knowledge import find_knowledge, find_passages
from parlai_q2.turns import joined

IN_TEXT = '__knowledge__ K __endknowledge__'


@pytest.mark.parametrize(
    'message, expected',
    [
        # What was chosen, then what was shown; in WoW none may be used.
        ({'checked_sentence': 'A', 'knowledge': 'B'}, 'A'),
        ({'checked_sentence': '', 'knowledge': 'B'}, 'B'),
        ({'checked_sentence': 'no_passages_used', 'knowledge': 'B'}, 'B'),
        ({'checked_sentence': ['A', 'B']}, 'A\nB'),
        ({'knowledge': ' no_passages_used\n A '}, 'A'),
        ({'knowledge': 'T __knowledge__ S1.\nU __knowledge__ S2.'}, 'S1.\nS2.'),
        ({'knowledge': 1969}, '1969'),
        ({'text': IN_TEXT + '\nhi'}, 'K'),
        # Where the jsonfile teacher keeps it; the text there is what was said.
        ({'x_turn': {'knowledge': 'K'}}, 'K'),
        ({'x_turn': {'knowledge': 'K'}, 'knowledge': 'own'}, 'own'),
        ({'x_turn': {'checked_sentence': 'no_passages_used'}, 'text': IN_TEXT}, 'K'),
        ({'x_turn': {'text': IN_TEXT}}, None),
        ({'x_turn': 'K'}, None),
        ({'text': 'hi'}, None),
        ({'knowledge': None, 'text': None}, None),
    ],
)
def test_find_knowledge(message, expected):
    assert find_knowledge(message) == expected


@pytest.mark.parametrize(
    'text, delimiter, expected',
    [
        ('passage\nquestion?', '\n', 'passage'),
        ('one\ntwo\nquestion?', '\n', 'one\ntwo'),
        ('question?', '\n', ''),
        ('passage\nquestion?', None, ''),
    ],
)
def test_a_passage_in_the_text_by_a_delimiter(text, delimiter, expected):
    assert joined(find_passages({'text': text}, delimiter)) == expected


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
    assert [(p.text, p.title) for p in found] == passages
    assert '\n'.join(p.text for p in found) == (find_knowledge(message) or '')
