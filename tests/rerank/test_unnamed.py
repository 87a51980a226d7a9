"""Replies that leave what they are about to the turn before them."""

import pytest

from parlai_q2.rerank import Pool, Reranker
from parlai_q2.rerank.subjects import subjects
from parlai_q2.rerank.unnamed import guard_of
from parlai_q2.turns import Example
from tests.rerank.toys import ToyScorer

LAKE = 'Baikal is a lake in Siberia. A reserve has been there since 1996.'
PRONOUNS = 'It is a lake in Siberia. It has been a reserve there since 1996.'
SHORT, FULL = 'Apparently in 1996. So cool!', 'Baikal is a nature reserve.'


@pytest.mark.parametrize(
    'reply, subject',
    [
        ('yeah , 1769 . haha', 'none'),
        ('The Mongol invasion of the Song. I wonder how that works.', 'none'),
        ('That would be tension or compression.', 'none'),
        ("i'm not sure , but i know the tower .", 'none'),
        ("It's a technician.", 'pronoun'),
        ("i think it ' s general admission of the tower .", 'pronoun'),
        ('yes , through disruption of the flora .', 'none'),
        ('It was founded in 1769.', 'pronoun'),
        ('haha , it directs the local church . it is new .', 'pronoun'),
        ('They dance.', 'pronoun'),
        ('It may be defined as a lake in which one fish is larger.', 'pronoun'),
        ('i think it was built by lee , who was rich', 'pronoun'),
        ('When it rains, bees sleep.', 'named'),
        ('There was wide agreement.', 'named'),
        ('i would not recommend wood .', 'named'),
        ('The church was founded in 1769.', 'named'),
        ('I heard that bees have five eyes. Cool, right?', 'named'),
        ('Baikal is deep. It has islands.', 'named'),
    ],
)
def test_how_a_reply_says_what_it_is_about(reply, subject):
    assert subjects([reply]) == [subject]


def test_a_batch_is_as_each_alone():
    replies = [SHORT, FULL, '', SHORT]
    assert subjects(replies) == [one for r in replies for one in subjects([r])]
    assert subjects([]) == []


@pytest.mark.parametrize(
    'subject, knowledge, turn, guard',
    [
        ('named', LAKE, 'Since when?', None),
        ('pronoun', LAKE, 'Since when?', 'unnamed'),
        ('pronoun', LAKE, 'I like lakes.', 'unnamed'),
        ('pronoun', PRONOUNS, 'I like lakes.', 'pronoun'),
        ('pronoun', [LAKE, 'They swim.'], 'I like lakes.', 'pronoun'),
        ('none', PRONOUNS, 'Since when?', 'unnamed'),
        ('none', LAKE, 'I like lakes.', 'unnamed'),
        ('none', LAKE, 'Hello. Is it a lake?', None),
    ],
)
def test_when_a_turn_says_what_a_reply_is_about(subject, knowledge, turn, guard):
    assert guard_of(subject, Example(knowledge, 'x', [turn])) == guard


# The toy counts known words: the short answer has all, the statement three of four.
SHORTER, LONGER = 'In 1996.', 'Baikal has been magnificent.'


def test_a_short_answer_gives_way_to_a_statement():
    wrong = 'Trout sing in 1950.'
    reranker = Reranker(ToyScorer())
    ranking = reranker.rank(LAKE, [wrong, SHORTER, LONGER], ['Since when?'])
    assert [one.text for one in ranking.candidates] == [LONGER, SHORTER, wrong]
    assert [one.guards for one in ranking.candidates] == [(), ('unnamed',), ()]
    # The first turn of a dialogue has nothing that it could be about.
    assert reranker.rank(LAKE, [SHORTER, LONGER]).chosen.text == SHORTER
    without = Reranker(ToyScorer(), guards=False)
    chosen = without.rank(LAKE, [SHORTER, LONGER], ['Since when?']).chosen
    assert chosen.text == SHORTER and chosen.guards == ()


def test_a_pronoun_gives_way_to_a_name():
    # The pronoun is better grounded, and the generator prefers it.
    replies = ['It has a lake since 1996.', 'Baikal has been magnificent.']
    reranker = Reranker(ToyScorer())
    ranking = reranker.rank(LAKE, replies, ['I like lakes.'])
    assert [one.text for one in ranking.candidates] == replies[::-1]
    assert ranking.candidates[1].guards == ('unnamed',)
    ranking = reranker.rank(PRONOUNS, replies, ['I like lakes.'])
    assert ranking.chosen.guards == ('pronoun',)
    assert ranking.chosen.value == pytest.approx(0.95)


def test_where_documents_answer_a_question_nothing_has_to_be_named():
    reranker = Reranker(ToyScorer())
    for answered, chosen in ((True, SHORTER), (False, LONGER), (None, LONGER)):
        pool = Pool(LAKE, [SHORTER, LONGER], ['Since when?'], answered=answered)
        assert reranker.rank_batch([pool])[0].chosen.text == chosen


def test_a_scorer_without_models_loads_no_parser(monkeypatch):
    def loaded(*_):
        raise AssertionError

    monkeypatch.setattr('parlai_q2.rerank.reranker.subjects', loaded)
    assert Reranker('precision').rank(LAKE, ['In 1996.'], ['Since when?']).chosen
