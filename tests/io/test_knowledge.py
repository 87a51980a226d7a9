"""Where the knowledge of a ParlAI message is found."""

import pytest

from parlai_q2.io.knowledge import find_knowledge, find_passages
from parlai_q2.turns import joined

IN_TEXT = '__knowledge__ K __endknowledge__'
K, OWN = [('K', '')], [('own', '')]


@pytest.mark.parametrize(
    'message, passages',
    [
        # What was chosen, then what was shown; in WoW none may be used.
        ({'checked_sentence': 'K', 'knowledge': 'B'}, K),
        ({'checked_sentence': '', 'knowledge': 'K'}, K),
        ({'checked_sentence': 'no_passages_used', 'knowledge': 'K'}, K),
        ({'checked_sentence': ['A', 'B']}, [('A', ''), ('B', '')]),
        ({'knowledge': ' no_passages_used\n K '}, K),
        ({'knowledge': 'One text.\nTwo lines.'}, [('One text.\nTwo lines.', '')]),
        ({'knowledge': 1969}, [('1969', '')]),
        # As Wizard of Wikipedia sends what was shown: a line for each sentence.
        (
            {
                'knowledge': 'no_passages_used __knowledge__ no_passages_used\n'
                'Bee __knowledge__ Bees fly.\nBee __knowledge__ They dance.\n'
                'Ant __knowledge__ Ants walk.\n'
            },
            [('Bees fly.\nThey dance.', 'Bee'), ('Ants walk.', 'Ant')],
        ),
        ({'text': IN_TEXT + '\nhi'}, K),
        ({'text': 'hi\n' + IN_TEXT}, K),
        # Where the jsonfile teacher keeps it; the text there is what was said.
        ({'x_turn': {'knowledge': ['K']}}, K),
        ({'x_turn': {'knowledge': 'K'}, 'knowledge': 'own'}, OWN),
        ({'x_turn': {'checked_sentence': 'no_passages_used'}, 'text': IN_TEXT}, K),
        ({'x_turn': {'text': IN_TEXT}}, []),
        ({'x_turn': 'K'}, []),
        ({'text': 'hi'}, []),
        ({'knowledge': None, 'text': None}, []),
    ],
)
def test_the_passages_of_a_message(message, passages):
    assert [(p.text, p.title) for p in find_passages(message)] == passages
    text = '\n'.join(text for text, _ in passages)
    assert find_knowledge(message) == (text or None)


@pytest.mark.parametrize(
    'text, delimiter, expected',
    [
        ('passage\nquestion?', '\n', 'passage'),
        ('one\ntwo\nquestion?', '\n', 'one\ntwo'),
        ('question?', '\n', ''),
        ('passage\nquestion?', None, ''),
        ('question? __knowledge__ passage __endknowledge__', None, 'passage'),
    ],
)
def test_a_passage_in_the_text_by_a_delimiter(text, delimiter, expected):
    assert joined(find_passages({'text': text}, delimiter)) == expected
