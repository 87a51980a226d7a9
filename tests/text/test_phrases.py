"""Prepositional phrases of a response are put in the order of the knowledge."""

import pytest

from parlai_q2.text.phrases import reorder_phrases

TRAIN = 'The train leaves from platform 3 at 9:00.'


@pytest.mark.parametrize(
    'knowledge, response, read',
    [
        (
            TRAIN,
            'It leaves at 9:00 from platform 3!',
            'It leaves from platform 3 at 9:00!',
        ),
        (TRAIN, 'It leaves at 9:00 sharp from platform 3.', None),
        (TRAIN, 'It leaves at 9:00, from platform 3.', None),
        (TRAIN, 'It leaves from platform 3 at 9:00.', None),
        (TRAIN, 'It leaves at 9:00 from platform 4.', None),
        (
            'From Leeds to York.',
            'It goes to York from Leeds',
            'It goes from Leeds to York',
        ),
        ('It goes from Leeds to York.', 'It goes from York to Leeds.', None),
        ('Bake at 90 °C for 9 min.', 'Bake for 90 min at 9 °C.', None),
        # A phrase may belong to the one before it.
        (
            'On Mondays at 1 and on Fridays at 2',
            'On Fridays at 1 and on Mondays at 2',
            None,
        ),
        ('Wait at A for B.\nWait in C.', 'Wait in C at A.', None),
        # Of several clauses, the one with the phrases.
        ('See at A. Go at 1 to B.', 'First go to B at 1.', 'First go at 1 to B.'),
    ],
)
def test_only_phrases_of_one_clause_change_places(knowledge, response, read):
    assert reorder_phrases(knowledge, response) == (read or response)
