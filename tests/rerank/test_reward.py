"""The reward of TRL's online trainers."""

import pytest

from parlai_q2.errors import InputError
from parlai_q2.rerank import Reranker
from parlai_q2.rerank.guards import TRAINING_PENALTIES
from parlai_q2.rerank.reward import GroundedReward
from tests.rerank.toys import ToyRelevance, ToyScorer

BEES = 'Bees have five eyes: two large ones and three small ones on their heads.'
COPY = 'bees have five eyes two large ones and three small ones'


def test_a_reward_is_the_value_that_the_reranker_gives():
    replies = [COPY, 'Five eyes.', 'Six legs.']
    reward = GroundedReward('precision')
    reranker = Reranker('precision', penalties=TRAINING_PENALTIES)
    ranking = reranker.rank(BEES, replies)
    values = {
        candidate.text: candidate.guarded_score for candidate in ranking.candidates
    }
    rewards = reward([''] * 3, replies, knowledge=[BEES] * 3)
    assert rewards == [values[text] for text in replies]
    assert rewards[0] == pytest.approx(0.9), 'a copy earns less'


CALL = {'role': 'assistant', 'content': None, 'tool_calls': [{'id': '1'}]}


@pytest.mark.parametrize(
    'completion, expected',
    [
        ('', 0.0),
        ('<think>Five eyes.', 0.0),
        ([], 0.0),
        ([CALL], 0.0),
        ([CALL, {'role': 'tool', 'content': 'Five eyes.'}], 0.0),
        ([CALL, {'role': 'assistant', 'content': 'Five eyes.'}], 1.0),
        ('<think>Six legs?</think>Five eyes.', 1.0),
        ([{'role': 'assistant', 'content': [{'type': 'text', 'text': 'Five'}]}], 1.0),
    ],
)
def test_visible_text_is_rewarded_and_empty_text_is_not(completion, expected):
    reward = GroundedReward('precision', guards=False)
    assert reward([''], [completion], knowledge=[BEES]) == [expected]


def test_a_batch_is_one_call_and_gives_what_each_gives_alone():
    scorer = ToyScorer()
    reward = GroundedReward(scorer)
    columns = {'knowledge': ['a b', 'c', 'a b'], 'history': [['x'], [], ['x']]}
    rewards = reward(['p'] * 3, ['a', 'a', 'b c'], **columns)
    assert len(scorer.batches) == 1
    alone = [
        reward(['p'], [text], knowledge=[known])[0]
        for text, known in zip(['a', 'a', 'b c'], columns['knowledge'], strict=True)
    ]
    assert rewards == alone


def test_passages_and_turns_without_knowledge():
    reward = GroundedReward('precision', guards=False)
    known = [[{'title': 'Bee', 'text': 'five eyes'}], '', None]
    assert reward([''] * 3, ['five'] * 3, knowledge=known) == [1.0, None, None]


def test_repetitions_earn_less():
    reward = GroundedReward('precision')
    reply = 'they have five eyes'
    (fresh,) = reward([''], [reply], knowledge=[reply])
    (again,) = reward([''], [reply], knowledge=[reply], history=[[reply]])
    assert again < fresh


def test_the_share_of_consistent_replies_is_logged():
    logged = {}
    reward = GroundedReward('precision', guards=False)
    data = {'knowledge': ['five'] * 2, 'log_metric': logged.__setitem__}
    reward([''] * 2, ['five', 'six'], **data)
    assert logged == {'grounded_precision/consistent': 0.5}
    assert reward.__name__ == 'grounded_precision'


@pytest.mark.parametrize(
    'columns, message',
    [
        ({}, "column 'knowledge'"),
        ({'evidence': ['a']}, "column 'knowledge'"),
        ({'knowledge': ['a', 'b', 'c']}, "column 'knowledge'"),
        (
            {'knowledge': ['a', 'b'], 'turns': [[]]},
            "1 values in the column 'turns' for 2",
        ),
    ],
)
def test_a_column_that_is_missing_or_too_short_is_named(columns, message):
    with pytest.raises(InputError, match=message):
        GroundedReward('precision', history='turns')([''] * 2, ['a', 'b'], **columns)


def test_relevance_requires_an_answer_for_the_reward():
    histories = [['Who designed the museum?']]
    data = {'knowledge': ['The museum opened in 1903.'], 'history': histories}
    reply = ['The museum opened in 1903.']
    alone = GroundedReward(ToyScorer(), guards=False)
    assert alone(['x'], reply, **data) == [1.0], 'off by default'
    reward_of_both = GroundedReward(ToyScorer(), guards=False, relevance=ToyRelevance())
    # One of the three words of the question.
    assert 0 < reward_of_both(['x'], reply, **data)[0] < 0.8
    del data['history']
    assert reward_of_both(['x'], reply, **data) == [1.0], 'there is nothing to answer'


def test_guards_do_not_raise_the_reward_of_chat():
    chat = ['That is so cool!', 'Thank you so much!']
    columns = {'knowledge': [BEES] * 2}
    guarded, bare = (
        GroundedReward(guards=guards)([''] * 2, chat, **columns)
        for guards in (True, False)
    )
    assert guarded == bare
