"""What the model has no token for stands in replies as in what it read."""

import pytest

from parlai_q2.generate.chat import USER
from parlai_q2.generate.open import open_shipped
from parlai_q2.generate.strategies import parse_strategies
from parlai_q2.generate.unknown import restored

KNOWN = {*'Pe pe a ▁ B b ▁E e and q'.split(), '?'}


@pytest.mark.parametrize(
    'tokens, context, found',
    [
        ('Pe ? a', 'B ♭ Pe ñ a', ['ñ']),
        ('pe ? a', 'B ♭ Pe ñ a', ['ñ']),
        ('▁ b ? and ▁ e ?', 'B ♭ and ▁E ♯', ['♭', '♯']),
        ('a ?', 'B ▁Ḃ a Ə', ['Ə']),  # its nearest neighbours decide
        ('q ? q', 'B ♭ and ▁E ♭', ['♭']),  # none is alike, but it can be no other
        ('q ? q', 'B ♭ and ▁E ♯', ['']),
        ('▁ ? a', 'B ▁Ġ a', ['Ġ']),
        ('Pe a', 'Pe ñ a', []),
        ('Pe ? a', 'Pe a', ['']),
        ('?', '', ['']),
    ],
)
def test_what_an_unknown_token_stands_for(tokens, context, found):
    assert restored(tokens.split(), context.split(), '?', KNOWN.__contains__) == found


@pytest.fixture(scope='module')
def generator():
    return open_shipped()


@pytest.mark.parametrize(
    'knowledge, turn, meant',
    [
        ('The cast includes Michael Peña and Kate Mara.', 'Who is in it?', 'Peña'),
        ('The series pitched in B♭ and E♭ is popular.', 'Which series?', 'B♭ and E♭'),
        ('He was a guest of Antoni Radziwiłł.', 'Whose guest was he?', 'radziwiłł'),
    ],
)
def test_the_shipped_model_writes_names_that_it_has_no_tokens_for(
    generator, knowledge, turn, meant
):
    context, _ = generator.context([(USER, turn)], knowledge)
    (written,) = generator.writer.write([context], [parse_strategies('greedy')], 0)
    assert meant in generator.text(written[0].tokens, context)
    assert meant not in generator.text(written[0].tokens)


def test_a_reply_of_known_tokens_is_as_before(generator):
    for text in ('Mira Peria <pad> is a writer.', '', 'x < unk > y'):
        tokens = generator.words.encode(text, frame=False)
        assert generator.words.decode(tokens, tokens) == generator.words.decode(tokens)
