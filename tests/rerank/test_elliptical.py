"""Short answers to questions that the knowledge does not answer."""

import pytest

from parlai_q2.rerank import Pool, Reranker
from parlai_q2.rerank.elliptical import QuestionReader, subjects
from parlai_q2.turns import Turn
from tests.rerank.toys import ToyScorer

LAKE = 'Baikal is a lake in Siberia. It has been a nature reserve since 1996.'
SHORT, FULL = 'Apparently in 1996. So cool!', 'Baikal is a nature reserve.'


@pytest.mark.parametrize(
    'reply, subject',
    [
        ('yeah , 1769 . haha', 'none'),
        ('The Mongol invasion of the Song. I wonder how that works.', 'none'),
        ("It's a technician.", 'none'),
        ("i think it ' s general admission of the tower .", 'none'),
        ('That would be tension or compression.', 'none'),
        ('yes , through disruption of the flora .', 'none'),
        ('It was founded in 1769.', 'pronoun'),
        ('haha , it directs the local church . it is new .', 'pronoun'),
        ('They dance.', 'pronoun'),
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


def test_the_shipped_reader_tells_which_questions_the_knowledge_answers():
    asked = [
        'Since when has Baikal been a nature reserve?',
        'Who was the first man to swim across the Danube?',
        'Is the Danube longer than the Rhine?',
        'I like lakes.',
    ]
    turns = [Turn(LAKE, [question]) for question in asked]
    turns += [Turn(['The Danube is a river.', LAKE], asked[:1]), Turn(LAKE), Turn()]
    expected = [False, True, False, False, False, False, False]
    assert QuestionReader().unanswered(turns) == expected


class Open:
    """A reader by which no question is answered, and what it was asked."""

    def __init__(self):
        self.asked = []

    def unanswered(self, turns):
        self.asked += turns
        return [bool(turn.text) for turn in turns]


def test_a_short_answer_gives_way_to_a_statement():
    # The toy counts known words: the short answer has all, the statement three of four.
    short, full, wrong = (
        'In 1996.',
        'Baikal has been magnificent.',
        'Trout sing in 1950.',
    )
    reader = Open()
    reranker = Reranker(ToyScorer(), reader=reader)
    ranking = reranker.rank(LAKE, [wrong, short, full], ['Since when?'])
    assert [one.text for one in ranking.candidates] == [full, short, wrong]
    assert [one.guards for one in ranking.candidates] == [(), ('elliptical',), ()]
    assert ranking.candidates[1].value == pytest.approx(0.7)
    # What is inconsistent anyway is not looked at.
    assert [turn.response for turn in reader.asked] == [short, full]
    assert reranker.rank(LAKE, [short, full]).chosen.text == short
    without = Reranker(ToyScorer(), guards=False, reader=reader)
    assert without.rank(LAKE, [short, full], ['Since when?']).chosen.text == short


def test_a_pronoun_gives_way_to_a_name():
    # Both are grounded; the generator prefers the pronoun.
    replies = ['It has a nature reserve.', 'Baikal is a lake.']
    reranker = Reranker(ToyScorer(), reader=Open())
    ranking = reranker.rank(LAKE, replies, ['Since when?'])
    assert [one.text for one in ranking.candidates] == replies[::-1]
    assert ranking.candidates[1].guards == ('pronoun',)
    assert ranking.candidates[1].value == pytest.approx(0.95)
    assert reranker.rank(LAKE, replies).chosen.text == replies[0]


def test_what_was_read_before_is_not_read_again():
    short, full = 'In 1996.', 'Baikal has been magnificent.'
    reader = Open()
    reranker = Reranker(ToyScorer(), reader=reader)
    for answered, chosen in ((True, short), (False, full)):
        pool = Pool(LAKE, [short, full], ['Since when?'], answered=answered)
        assert reranker.rank_batch([pool])[0].chosen.text == chosen
    assert reader.asked == []
    other = Pool(LAKE, [short], ['Since when?'])
    assert reranker.rank_batch([pool, other])[1].chosen.guards == ('elliptical',)
    assert [turn.response for turn in reader.asked] == [short]


def test_a_scorer_without_models_loads_none():
    assert Reranker('precision').reader is None
    assert isinstance(Reranker('consistency').reader, QuestionReader)
