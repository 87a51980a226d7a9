"""Passages: whole sentences under one heading, of a stated length and overlap."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_q2.errors import ConfigError
from parlai_q2.retrieve.index import IndexSettings
from parlai_q2.retrieve.readers.block import Block
from parlai_q2.retrieve.split import split
from parlai_q2.text.sentences import count_words
from parlai_q2.turns import Source


def texts(blocks, words=10, overlap=0):
    return [p.text for p in split('f', blocks, words, overlap)]


FIVE = 'One two three four five.'


def test_the_last_sentences_are_repeated():
    text = 'Aa bb cc. Dd ee ff. Gg hh ii. Jj kk ll.'
    assert texts([Block(text)], overlap=4) == [
        'Aa bb cc. Dd ee ff. Gg hh ii.',
        'Gg hh ii. Jj kk ll.',
    ]


def test_overlap_repeats_only_sentences_that_fit():
    text = 'Aa bb. Cc dd ee ff. Gg hh ii jj kk ll mm.'
    assert texts([Block(text)], overlap=4) == [text[:19], text[20:]]


def test_a_heading_begins_a_passage_and_names_its_place():
    blocks = [
        Block('Aa.', 'T', 'One', 'line', 1, 2),
        Block('Bb.', 'T', 'One', 'line', 3, 4),
        Block('Cc.', 'T', 'Two', 'line', 6, 6),
    ]
    first, second = split('f.md', blocks)
    start = (first.text, first.source)
    assert start == ('Aa.\nBb.', Source('f.md', 'One', 'lines 1-4'))
    assert (second.text, second.source.place) == ('Cc.', 'line 6')


def test_long_code_stands_apart_after_what_introduces_it():
    code = '\n'.join(f'run --step {n} --again' for n in range(9))
    blocks = [
        Block('It is old. Type this:'),
        Block(code, code=True),
        Block('Then wait.'),
        Block('wait --now', code=True),
    ]
    assert texts(blocks, words=100, overlap=4) == [
        'It is old.\nType this:'.replace('\n', ' '),
        f'Type this:\n{code}',
        'Then wait.\nwait --now',
    ]


def test_a_sentence_that_is_too_long_is_cut_between_words():
    parts = texts([Block(' '.join(['word'] * 25))])
    assert [len(part.split()) for part in parts] == [10, 10, 5]


@given(
    st.lists(st.text(alphabet='ab .\n?', max_size=80), max_size=5), st.integers(0, 5)
)
def test_no_word_is_lost_and_no_passage_too_long(said, overlap):
    blocks = [Block(text) for text in said]
    passages = texts(blocks, 10, overlap)
    assert all(text.strip() and count_words(text) <= 10 for text in passages)
    words = ' '.join(said).split()
    rest = iter(' '.join(passages).split())
    assert all(any(word == passage_word for passage_word in rest) for word in words)


@pytest.mark.parametrize('words, overlap', [(9, 0), (20, 11), (20, -1)])
def test_lengths_that_cannot_be_made_are_refused(words, overlap):
    with pytest.raises(ConfigError, match='at least 10 words'):
        IndexSettings(words, overlap)
