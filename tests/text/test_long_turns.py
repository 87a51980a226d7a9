import pytest

from parlai_q2.text.long_turns import MAX_TURN_WORDS, shorten_turn

TOLD = 'I told my husband ' + 'who has read a great deal about old railways ' * 4


@pytest.mark.parametrize(
    'turn, kept',
    [
        ('When do you open?', 'When do you open?'),
        (f'{TOLD}. When do you open? Thanks a lot!', 'When do you open?'),
        (
            f'{TOLD}. My lamp broke. Can I return it? I am sad.',
            'My lamp broke. Can I return it?',
        ),
        (
            f'Hi! How are you? {TOLD}. Tell me where it is.',
            f'{TOLD}. Tell me where it is.',
        ),
    ],
)
def test_what_a_long_turn_asks_is_kept(turn, kept):
    assert shorten_turn(turn) == kept


def test_of_a_long_sentence_the_end_is_kept():
    assert shorten_turn(f'{TOLD} when you open?').endswith('railways when you open?')
    assert len(shorten_turn(TOLD).split()) == MAX_TURN_WORDS
