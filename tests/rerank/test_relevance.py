"""Relevance: which candidates are read for it, and what it changes."""

from dataclasses import replace

import pytest

from parlai_q2.rerank import Candidate, Pool, Ranking, Reason, RerankBy, Reranker, Rule
from parlai_q2.rerank.choice import combine
from parlai_q2.rerank.relevance import AnswerComparer, AnswerRelevance, wants_span
from parlai_q2.text.questions import only_declines
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
    def combined(text, value, relevance, support):
        candidate = Candidate(text, value=value)
        return combine(replace(candidate, relevance=relevance, turn_support=support))

    assert combined('x', 0.9, None, None) == 0.9, 'without relevance the value counts'
    assert combined('x', 0.8, 1.0, 1.0) == pytest.approx(0.8)
    assert combined('x', 0.8, 0.5, 1.0) == pytest.approx(0.4)
    assert combined('x', 0.8, 0.5, 0.5) == pytest.approx(0.2)
    assert combined("I don't know.", 0.2, 0.5, 1.0) == pytest.approx(0.3), 'a decline'


@pytest.mark.parametrize(
    'reply, declines',
    [
        ("Sorry, I don't know.", True),
        ("I couldn't find any information on that, sorry.", True),
        ("I 'm not sure about that .", True),
        ("The leaflet doesn't mention it. Can I help you with anything else?", True),
        ('No idea!', True),
        ("I'm not sure, but it was built in Paris.", False),
        ("I don't know, maybe in 1950.", False),
        ('It has two floors.', False),
        ('You know it opens at nine.', False),
        ('', False),
    ],
)
def test_what_only_declines(reply, declines):
    assert only_declines(reply) is declines


PLANS = 'The Basic plan costs 9 euros a month. Repairs are done in Leeds.'


@pytest.mark.parametrize(
    'knowledge, turn, best, others, why',
    [
        (MUSEUM, ASKED, 'It was designed by Anna Keller.', [OPENED], 'it answers'),
        (
            'Bikes have a warranty of two years. Repairs are done in Leeds.',
            'How long is the warranty?',
            'Two years.',
            ['Repairs are done in Leeds.', 'Three years.'],
            'a short answer is a good answer',
        ),
        (
            PLANS,
            'Where is the nearest station?',
            "Sorry, I don't know.",
            ['The Basic plan costs 9 euros a month.', 'It is in Norway.'],
            'the knowledge has no answer',
        ),
        (PLANS, 'Hi there!', 'Hello! How can I help you?', [PLANS[:37]], 'a greeting'),
        (
            MUSEUM,
            'When did the museum open?',
            'It opened in 1903.',
            ["Sorry, I don't know.", 'It was designed by Anna Keller.'],
            'who can answer does not decline',
        ),
    ],
)
def test_the_shipped_models_choose_the_reply_that_answers(
    knowledge, turn, best, others, why
):
    reranker = Reranker(explain=None)
    for replies in ([best, *others], [*others, best]):
        ranking = reranker.rank(knowledge, replies, [turn])
        assert ranking.chosen.text == best, why


def test_a_question_of_yes_or_no_is_chosen_for_by_the_score():
    reranker = make_reranker()
    reranker.rank(MUSEUM, [OPENED, DESIGNED], ['Is it open on Sundays?'])
    assert reranker.relevance_reader.batches == []


def test_relevance_of_a_batch_is_that_of_each_alone():
    inputs = [
        (MUSEUM, [ASKED], 'Anna Keller did.'),
        ('', [ASKED], "I don't know."),
        (MUSEUM, ['Hi!', 'Tell me more.'], OPENED),
        (MUSEUM, [ASKED], ''),
    ]
    reader = AnswerRelevance()
    alone = [reader.predict([one])[0] for one in inputs]
    together = reader.predict(inputs)
    for a, b in zip(together, alone, strict=True):
        assert a.relevance == pytest.approx(b.relevance, abs=1e-5)
        assert 0 <= a.relevance <= 1 and a.support == 1.0


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
