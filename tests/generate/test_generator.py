"""The shipped generator: samples by seed, and characters that it has no tokens for."""

import pytest

from parlai_q2.generate.chat import USER
from parlai_q2.generate.generator import open_shipped, tidy
from parlai_q2.generate.strategies import parse_strategies
from parlai_q2.generate.tokenizer import restore_unknown

VOCABULARY = {*'Pe pe a ▁ B b ▁E e and q'.split(), '?'}


@pytest.mark.parametrize(
    'tokens, context, expected',
    [
        ('Pe ? a', 'B ♭ Pe ñ a', ['ñ']),
        ('pe ? a', 'B ♭ Pe ñ a', ['ñ']),
        ('▁ b ? and ▁ e ?', 'B ♭ and ▁E ♯', ['♭', '♯']),
        ('a ?', 'B ▁Ḃ a Ə', ['Ə']),  # its nearest neighbours decide
        (
            'q ? q',
            'B ♭ and ▁E ♭',
            ['♭'],
        ),  # no neighbour is alike, but it is the only one
        ('q ? q', 'B ♭ and ▁E ♯', ['']),
        ('Pe a', 'Pe ñ a', []),
        ('Pe ? a', 'Pe a', ['']),
        ('?', '', ['']),
    ],
)
def test_restore_unknown(tokens, context, expected):
    texts = restore_unknown(
        tokens.split(), context.split(), '?', VOCABULARY.__contains__
    )
    assert texts == expected


@pytest.mark.parametrize(
    'text, expected',
    [
        ("no , i don't . it is 630 .", "No, I don't. It is 630."),
        ("it ' s made ( by bees ) !", "It's made (by bees)!"),
        ('The tower is 3.5 m high, i.e. tall.', 'The tower is 3.5 m high, i.e. tall.'),
        ('he said "yes ." it is 5 %', 'He said "yes." it is 5%'),
        ('', ''),
    ],
)
def test_replies_are_written_as_people_write(text, expected):
    assert tidy(text) == expected


@pytest.fixture(scope='module')
def generator():
    return open_shipped(seed=3)


def write(generator, strategies, knowledge, turn):
    context, _ = generator.context([(USER, turn)], knowledge)
    (replies,) = generator.writer.write([context], [parse_strategies(strategies)])
    return context, replies


@pytest.mark.parametrize(
    'knowledge, turn, name',
    [
        ('The cast includes Michael Peña and Kate Mara.', 'Who is in it?', 'Peña'),
        ('The series pitched in B♭ and E♭ is popular.', 'Which series?', 'B♭ and E♭'),
        ('He was a guest of Antoni Radziwiłł.', 'Whose guest was he?', 'radziwiłł'),
    ],
)
def test_replies_have_characters_without_tokens(generator, knowledge, turn, name):
    context, replies = write(generator, 'greedy', knowledge, turn)
    assert name in generator.text(replies[0].tokens, context)
    assert name not in generator.text(replies[0].tokens)


def test_samples_depend_on_the_seed(generator):
    strategies = 'nucleus:3,topk:2,delayedbeam:2'
    first, again, other = (
        write(opened, strategies, 'Bees have five eyes.', 'How many eyes?')[1]
        for opened in (generator, open_shipped(seed=3), open_shipped(seed=4))
    )
    assert first == again
    assert first != other


def test_replies_begin_as_they_are_told(generator):
    knowledge = {
        'Web pages': 'Web pages were first shown by Tim Berners-Lee in 1990.',
        'The border': 'The border was opened, and people climbed onto the Wall.',
        'Bees have five eyes: two': 'Bees have five eyes: two large, three small.',
    }
    for beginning in (*knowledge, *knowledge):
        context, _ = generator.context([(USER, 'And then?')], knowledge[beginning])
        (replies,) = generator.complete([context], [beginning], 2)
        texts = [generator.text(reply.tokens, context) for reply in replies]
        assert len(texts) == 2
        assert all(text.startswith(beginning) for text in texts), texts
