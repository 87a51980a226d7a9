"""Replies that leave what they are about to the turn before them."""

import pytest

from parlai_q2.claims import Label, Score
from parlai_q2.rerank import Reranker
from parlai_q2.rerank.guards import ScoredReply, detect_guards
from parlai_q2.rerank.subjects import find_subject_kinds, find_subject_name
from parlai_q2.turns import Example, passages_of
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
def test_finds_how_a_reply_names_its_subject(reply, subject):
    assert find_subject_kinds([reply]) == [subject]


def test_a_batch_is_as_each_alone():
    replies = [SHORT, FULL, '', SHORT]
    assert find_subject_kinds(replies) == [
        kind for r in replies for kind in find_subject_kinds([r])
    ]
    assert find_subject_kinds([]) == []


@pytest.mark.parametrize(
    'reply, knowledge, turn, guards, why',
    [
        ('Baikal is a lake.', LAKE, 'I like it.', (), 'it is named'),
        ('It is a lake.', LAKE, 'I like maps.', ('unnamed',), 'nobody named it'),
        ('It is a lake.', LAKE, 'I like Baikal.', (), 'the turn names it'),
        ('It is a lake.', PRONOUNS, 'I like maps.', ('pronoun',), 'as the knowledge'),
        ('It is a lake.', [LAKE, 'They swim.'], 'I like maps.', ('pronoun',), 'too'),
        ('It is a lake.', LAKE, 'What is Baikal?', (), 'the question names it'),
        ('It is a lake.', LAKE, 'Is football a game?', ('unnamed',), 'another subject'),
        ('It opened then.', LAKE, 'Since when?', (), 'no name is known for it'),
        ('Apparently in 1996.', LAKE, 'I like maps.', ('unnamed',), 'no statement'),
        ('In 1996.', PRONOUNS, 'Since when?', (), 'a short answer'),
        ('Yes, a lake.', LAKE, 'Hello. Is it a lake?', (), 'yes or no'),
        ('It is a lake.', LAKE, None, (), 'there is no turn before it'),
    ],
)
def test_guards_hold_unless_the_subject_is_known(reply, knowledge, turn, guards, why):
    example = Example(knowledge, reply, [turn] if turn else [])
    score = Score(0.9, Label.CONSISTENT, parts={'generic': 0.0})
    assert detect_guards([ScoredReply(example, score)])[0] == guards, why


PARSER = 'parlai_q2.rerank.guards.subject.find_subject_kinds'


def fail(*_):
    raise AssertionError('it was parsed')


def test_parses_only_replies_that_may_be_chosen(monkeypatch):
    monkeypatch.setattr(PARSER, fail)
    example = Example(LAKE, 'It is a lake.', ['I like maps.'])
    wrong = Score(0.1, Label.INCONSISTENT, parts={'generic': 0.0})
    with pytest.raises(AssertionError):
        detect_guards([ScoredReply(example, Score(0.9, Label.CONSISTENT))])
    monkeypatch.setattr(PARSER, lambda texts: texts)
    assert detect_guards([ScoredReply(example, wrong)]) == [()]


def test_a_pronoun_gives_way_to_a_name():
    # The pronoun is better grounded, and the generator prefers it.
    replies = ['It has a lake since 1996.', 'Baikal has been magnificent.']
    reranker = Reranker(ToyScorer(), relevance=None)
    ranking = reranker.rank(LAKE, replies, ['I like lakes.'])
    assert [candidate.text for candidate in ranking.candidates] == replies[::-1]
    assert ranking.candidates[1].guards == ('unnamed',)
    ranking = reranker.rank(PRONOUNS, replies, ['I like lakes.'])
    assert ranking.chosen.guards == ('pronoun',)
    assert ranking.chosen.guarded_score == pytest.approx(0.95)


def test_a_scorer_without_models_loads_no_parser(monkeypatch):
    monkeypatch.setattr(PARSER, fail)
    reranker = Reranker('precision', relevance=None)
    assert reranker.rank(LAKE, ['In 1996.'], ['Since when?']).chosen


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
