"""The name that a reply leaves out."""

import pytest

from parlai_q2.rerank.subjects import find_subject_name
from parlai_q2.turns import passages_of

GAME = 'Legend of the 9 is a samurai game for the Xbox 360 developed by Genki.'
PRUS = 'Bolesław Prus, who lived in Warsaw, wrote The Doll in 1889.'
FORMS = 'Part 1 was released in May, and Part 2 was nominated for an award in June.'


@pytest.mark.parametrize(
    'reply, knowledge, name',
    [
        ('It is a samurai game.', GAME, 'Legend of the 9'),
        ('it ' + "'" + ' s a samurai game by genki .', GAME, 'Legend of the 9'),
        ('He wrote The Doll.', PRUS, 'Bolesław Prus'),
        ('The Doll, in 1889.', PRUS, 'Bolesław Prus'),
        # The subject of the clause that it has most words of.
        ('It was nominated for an award.', FORMS, 'Part 2'),
        ('It was released in May.', FORMS, 'Part 1'),
        # The passage, and the sentence, that it has most words of.
        ('He wrote The Doll.', [GAME, 'Bees have five eyes. ' + PRUS], 'Bolesław Prus'),
        # Nothing is shared, or nothing named.
        ('It rains.', GAME, None),
        ('It was released in May.', 'It was released in May.', None),
        ('i like it', 'I like the smell of it, and we bought it twice.', None),
        ('In 1251.', 'There were floods in 1251.', None),
        # What is too long to begin with.
        (
            'They died in 1251.',
            'The first and the last of all of the kings of the old north died in 1251.',
            None,
        ),
        ('', GAME, None),
        ('It is a game.', '', None),
        ('🐝 1251', '🐝 1251 🐝', None),
    ],
)
def test_finds_the_name_that_a_reply_leaves_out(reply, knowledge, name):
    assert find_subject_name(reply, passages_of(knowledge)) == name
