"""Relevance: which candidates are read for it, and what it changes."""

from dataclasses import replace

import pytest

from parlai_q2.rerank import Candidate, Pool, Ranking, Reason, RerankBy, Reranker, Rule
from parlai_q2.rerank.choice import Weights, combine
from parlai_q2.rerank.relevance import AnswerComparer, wants_span
from parlai_q2.turns import Turn
from tests.rerank.toys import ToyRelevance, ToyScorer

MUSEUM = 'The museum opened in 1903. It was designed by Anna Keller.'
ASKED = 'Who designed the museum?'
OPENED, DESIGNED = 'The museum opened in 1903.', 'Anna Keller designed the museum.'


def make_reranker(**options):
    return Reranker(ToyScorer(), explain=None, relevance=ToyRelevance(), **options)


def test_the_grounded_reply_that_answers_is_chosen():
    ranking = make_reranker().rank(MUSEUM, [OPENED, DESIGNED], [ASKED])
    assert ranking.chosen.text == DESIGNED
    assert ranking.reason == Reason.BEST_RELEVANCE
    assert [candidate.relevance for candidate in ranking] == [2 / 3, 1 / 3]
    assert ranking.turn == ASKED
    assert Ranking.from_dict(ranking.to_dict()) == ranking


@pytest.mark.parametrize(
    'knowledge, history, rule',
    [
        (MUSEUM, [], Rule()),
        ('', [ASKED], Rule()),
        (MUSEUM, [' '], Rule()),
        (MUSEUM, [ASKED], Rule(RerankBy.SCORE)),
        (MUSEUM, [ASKED], Rule(RerankBy.SCORE_PLUS_GENERATOR)),
        (MUSEUM, [ASKED], Rule(RerankBy.THRESHOLD)),
    ],
)
def test_it_is_only_read_where_it_counts(knowledge, history, rule):
    reranker = make_reranker(rule=rule)
    ranking = reranker.rank(knowledge, [OPENED, DESIGNED], history)
    assert reranker.relevance_reader.batches == []
    assert [candidate.relevance for candidate in ranking] == [None, None]


def test_candidates_that_cannot_win_are_not_read():
    # Four grounded replies are read; of the rest, those that could still beat these.
    grounded = [f'The museum opened in {word}' for word in '1903 by it Anna'.split()]
    nearly = 'Anna Keller designed the museum, or so.'
    hopeless = 'Nobody knows.'
    reranker = make_reranker()
    ranking = reranker.rank(MUSEUM, [*grounded, nearly, hopeless], [ASKED])
    first, second = reranker.relevance_reader.batches
    assert len(first) == 4 and [reply for _, _, reply in second] == [nearly]
    assert ranking.chosen.text == nearly and ranking[-1].text == hopeless


def test_a_batch_is_read_as_each_alone():
    pools = [
        Pool(MUSEUM, [OPENED, DESIGNED], [ASKED]),
        Pool(MUSEUM, [OPENED]),
        Pool('', ['Hi.'], [ASKED]),
        Pool(MUSEUM, [DESIGNED, OPENED, 'Nobody.'], ['When did the museum open?']),
    ]
    together = make_reranker().rank_batch(pools)
    assert together == [make_reranker().rank_batch([pool])[0] for pool in pools]


def test_a_combination_is_no_larger_than_its_parts_allow():
    weights = Weights(relevance=1.0, support=2.0, score=0.5)

    def combined(value, relevance, support):
        candidate = Candidate('x', value=value)
        return combine(
            replace(candidate, relevance=relevance, turn_support=support), weights
        )

    assert combined(0.9, None, None) == 0.9, 'without relevance the value counts'
    assert combined(0.81, 1.0, 1.0) == pytest.approx(0.9)
    assert combined(0.81, 0.5, 1.0) == pytest.approx(0.45)
    assert combined(0.81, 1.0, 0.5) == pytest.approx(0.225)
    assert combined(0.0, 1.0, 1.0) == pytest.approx(0.1), 'never quite impossible'


@pytest.mark.parametrize(
    'turn, wanted',
    [
        (ASKED, True),
        ('Is it open on Sundays?', False),
        ('How do I get there?', False),
        ('I like museums.', False),
        ('', False),
    ],
)
def test_which_turns_want_a_span(turn, wanted):
    assert wants_span(turn) is wanted


def test_the_answers_of_knowledge_and_reply_are_compared():
    turn = Turn(['It opened in 1903.', 'It was designed by Anna Keller.'], [ASKED])
    replies = ['It was designed by Anna Keller.', 'It was designed by Otto Brandt.']
    claims = AnswerComparer().compare(
        [(turn, replies[0]), (turn, replies[1]), (Turn('Bees.', ['Hi!']), 'Hello!')]
    )
    right, wrong, nothing = claims
    assert right.question == ASKED and right.span.text == 'Anna Keller'
    assert (right.comparison, right.evidence[0].passage) == ('exact', 1)
    assert wrong.span.text == 'Otto Brandt' and wrong.f1 == 0
    assert nothing is None
