"""Misspelt words of the knowledge: which they are, and which are no such words."""

import pytest

from parlai_q2 import Reranker
from parlai_q2.rerank.guards.words import english_words, find_misspellings

PALACE = 'The sultans lived at Topkapi; Fossati restored the Hagia Sophia in 1849.'


@pytest.mark.parametrize(
    'response, expected',
    [
        ('They lived at Topkap.', ['topkap']),
        ('fossatti restored it, and they lived at topkappi', ['fossatti', 'topkappi']),
        ('Fosetti restored it.', ['fosetti']),
        ('The sulltan restored it.', ['sulltan']),
        ('They laved at Topkapi.', []),  # less like an English word
        ('Fossati’s men restored the Hagia Sophia.', []),
        ('Fossatis restored it.', []),  # another form
        ('Rossati restored it.', []),  # another name: for the scorer to see
        ('The sultan restored it.', []),  # an English word
        ('Topkapı, FOSSATI, Sóphia', []),
        ('', []),
        ('🐝 1850', []),
    ],
)
def test_misspelt_words(response, expected):
    assert find_misspellings(response, PALACE) == expected


@pytest.mark.parametrize(
    'knowledge, response',
    [
        ('Ice is less dense than water.', 'Water is the denser one.'),
        ('It was Zhuralised in 1920.', 'Zhuralized'),
        ('The Xanthippids ruled.', 'a Xanthippid ruled'),
    ],
)
def test_forms_and_spellings_of_a_word_are_not_find_misspellings(knowledge, response):
    assert find_misspellings(response, knowledge) == []


def test_english_words_are_those_that_the_guard_was_measured_with():
    # Another tokenizer would change which replies are marked.
    words = english_words()
    assert len(words) == 22_501
    assert {'sultan', 'restored', 'london', 'the'} <= words
    assert not {'##ing', '[CLS]', '1849', 'topkapi'} & words


def test_words_of_earlier_turns_are_not_misspelt():
    assert find_misspellings('Topkap!', PALACE, ['Tell me of Topkap.']) == []


def test_the_reply_that_spells_a_name_right_is_chosen():
    ranking = Reranker('precision', explain=None).rank(
        PALACE, ['The sultans lived at Topkap.', 'The sultans lived, yes, at Topkapi.']
    )
    assert 'Topkapi' in ranking[0].text
    assert ranking[1].guards == ('misspelt',)
