"""Relevance: which candidates are read for it, and what it changes."""

from dataclasses import replace

import pytest

from parlai_q2.log_odds import logit, sigmoid
from parlai_q2.rerank import Candidate, Pool, Ranking, Reason, RerankBy, Reranker, Rule
from parlai_q2.rerank.candidate import with_agreement
from parlai_q2.rerank.choice import choose
from parlai_q2.rerank.relevance import (
    AnswerComparer,
    TurnReader,
    strip_chat,
    wants_span,
)
from parlai_q2.rerank.worth import (
    AGREEMENT_WEIGHT,
    CHAT,
    CHAT_IF_ASKED,
    CHAT_RELEVANCE,
    DECLINE,
    DECLINE_RELEVANCE,
    RELEVANCE_WEIGHT,
    TYPICAL_AGREEMENT,
    TYPICAL_RELEVANCE,
    worth_of,
)
from parlai_q2.turns import Passage, Turn
from tests.rerank.toys import ToyRelevance, ToyScorer

MUSEUM = 'The museum opened in 1903. It was designed by Anna Keller.'
QUESTION = 'Who designed the museum?'
OPENED, DESIGNED = 'The museum opened in 1903.', 'Anna Keller designed the museum.'


def make_reranker(**options):
    return Reranker(ToyScorer(), explain=None, relevance=ToyRelevance(), **options)


def test_the_grounded_reply_that_answers_is_chosen():
    ranking = make_reranker().rank(MUSEUM, [OPENED, DESIGNED], [QUESTION])
    assert ranking.chosen.text == DESIGNED
    assert ranking.reason == Reason.BEST_WORTH
    assert [candidate.relevance for candidate in ranking] == [2 / 3, 1 / 3]
    assert ranking.turn == QUESTION
    assert Ranking.from_dict(ranking.to_dict()) == ranking


@pytest.mark.parametrize(
    'knowledge, history, rule',
    [
        (MUSEUM, [], Rule()),
        ('', [QUESTION], Rule()),
        (MUSEUM, [' '], Rule()),
        (MUSEUM, [QUESTION], Rule(RerankBy.SCORE)),
        (MUSEUM, [QUESTION], Rule(RerankBy.SCORE_PLUS_GENERATOR)),
        (MUSEUM, [QUESTION], Rule(RerankBy.THRESHOLD)),
    ],
)
def test_relevance_is_read_only_if_needed(knowledge, history, rule):
    reranker = make_reranker(rule=rule)
    ranking = reranker.rank(knowledge, [OPENED, DESIGNED], history)
    assert reranker.relevance_reader.relevance_batches == []
    assert [candidate.relevance for candidate in ranking] == [None, None]


def test_the_most_relevant_and_the_best_grounded_are_read_as_answers():
    grounded = [f'The museum opened in 1903 {word}' for word in 'by it in was'.split()]
    relevant = [f'{QUESTION} Otto {word}' for word in 'Brandt A B'.split()]
    replies = [*grounded, *relevant, "I don't know.", 'Nobody did.']
    reranker = make_reranker()
    ranking = reranker.rank(MUSEUM, replies, [QUESTION])
    (read,) = reranker.relevance_reader.relevance_batches
    (answers,) = reranker.relevance_reader.answer_batches
    assert read == replies
    assert set(relevant) < set(answers) < {*grounded, *relevant}
    assert len(answers) == 6
    assert {c.text for c in ranking if c.right_answer is not None} == set(answers)
    # Copies take no other reply's place.
    copied = make_reranker().rank(MUSEUM, [*replies, *replies], [QUESTION])
    read = [c.text for c in copied if c.right_answer is not None]
    assert sorted(read) == sorted(2 * answers)


def test_an_earlier_ranking_of_the_candidates_does_not_count():
    reranker = make_reranker()
    earlier = reranker.rank(MUSEUM, [OPENED, DESIGNED], [QUESTION])
    texts = [candidate.text for candidate in earlier]
    for knowledge in ('', 'The museum opened in 1950.'):
        ranking = reranker.rank(knowledge, list(earlier), [QUESTION])
        assert ranking == reranker.rank(knowledge, texts, [QUESTION])


def test_a_batch_is_read_as_each_alone():
    pools = [
        Pool(MUSEUM, [OPENED, DESIGNED], [QUESTION]),
        Pool(MUSEUM, [OPENED]),
        Pool('', ['Hi.'], [QUESTION]),
        Pool(MUSEUM, [DESIGNED, OPENED, 'Nobody.'], ['When did the museum open?']),
    ]
    together = make_reranker().rank_batch(pools)
    assert together == [make_reranker().rank_batch([pool])[0] for pool in pools]


@pytest.mark.parametrize(
    'turn, text, fields, expected',
    [
        (QUESTION, 'x', {'guarded_score': 0.9}, 0.9),
        (QUESTION, "I don't know.", {'relevance': 0.5}, sigmoid(DECLINE)),
        (
            QUESTION,
            "I don't know.",
            {'relevance': 0.1, 'guarded_score': 0.9},
            sigmoid(DECLINE + DECLINE_RELEVANCE * logit(0.1)),
        ),
        ('I like it.', 'Hello!', {'relevance': 0.5}, sigmoid(CHAT)),
        (
            'Hi!',
            'Hello!',
            {'relevance': 0.9},
            sigmoid(CHAT + CHAT_RELEVANCE * logit(0.9)),
        ),
        (QUESTION, 'Hello!', {'relevance': 0.5}, sigmoid(CHAT + CHAT_IF_ASKED)),
        (
            'I like it.',
            'x',
            {
                'relevance': 0.1,
                'guarded_score': 1.0,
                'right_answer': 0.5,
                'agreement': 0.2,
            },
            sigmoid(AGREEMENT_WEIGHT * (0.2 - TYPICAL_AGREEMENT)),
        ),
        (
            QUESTION,
            'x',
            {'relevance': 0.1, 'guarded_score': 1.0, 'right_answer': 0.5},
            sigmoid(RELEVANCE_WEIGHT * (logit(0.1) - logit(TYPICAL_RELEVANCE))),
        ),
    ],
)
def test_worth_combines_its_parts(turn, text, fields, expected):
    assert worth_of(Candidate(text, **fields), turn) == pytest.approx(expected)


@pytest.mark.parametrize(
    'part', ['guarded_score', 'relevance', 'right_answer', 'agreement']
)
def test_every_part_of_worth_changes_it(part):
    best = Candidate(
        'x', guarded_score=0.8, relevance=0.8, right_answer=0.8, agreement=0.8
    )
    worse = replace(best, **{part: 0.4})
    assert 0 < worth_of(worse, QUESTION) < worth_of(best, QUESTION) < 1


@pytest.mark.parametrize(
    'reply, stripped',
    [
        ('No, but it is red.', 'it is red.'),
        ('Yes it is red.', 'it is red.'),
        ('No. It is red.', 'It is red.'),
        ('No smoking is allowed.', 'No smoking is allowed.'),
        ('No. 14 stops outside.', 'No. 14 stops outside.'),
    ],
)
def test_only_a_yes_or_no_that_nobody_asked_for_is_stripped(reply, stripped):
    assert strip_chat(reply, 'Which colour is it?') == stripped


def test_no_part_of_worth_excludes_a_reply():
    none = Candidate(
        'x', guarded_score=0.0, relevance=0.0, right_answer=0.0, agreement=0.0
    )
    sure = replace(
        none, guarded_score=1.0, relevance=1.0, right_answer=1.0, agreement=1.0
    )
    assert 0 < worth_of(none, QUESTION) < worth_of(sure, QUESTION) < 1


def test_agreement_is_of_words_with_the_other_candidates():
    texts = ['It is red.', 'it is red', 'No.', '...']
    red, again, no, nothing = with_agreement(list(map(Candidate, texts)))
    assert red.agreement == again.agreement == 0  # copies do not agree
    assert no.agreement == nothing.agreement == 0
    texts = ['It is red.', 'It is blue.', 'It is blue!', 'So it is blue.']
    red, blue, again, so = with_agreement(list(map(Candidate, texts)))
    assert red.agreement == pytest.approx((1 / 2 + 2 / 5) / 2)
    assert blue.agreement == again.agreement == pytest.approx((1 / 2 + 3 / 4) / 2)
    assert so.agreement == pytest.approx((2 / 5 + 3 / 4) / 2)
    assert with_agreement([Candidate('It is red.')])[0].agreement is None
    assert with_agreement([]) == []


def test_agreement_decides_between_equal_candidates():
    alike = ['The museum opened.', 'So the museum opened!']
    ranking = make_reranker().rank(MUSEUM, ['Anna Keller designed.', *alike], ['x'])
    assert ranking.chosen.text == alike[0]
    assert 'agreement' in ranking.rows()[0]


PLANS = 'The Basic plan costs 9 euros a month. Repairs are done in Leeds.'


@pytest.mark.parametrize(
    'knowledge, turn, best, other_replies, why',
    [
        (MUSEUM, QUESTION, 'It was designed by Anna Keller.', [OPENED], 'it answers'),
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
        (
            '# Help\n\n## Billing\n\n**How can I pay?** By credit card. We do not\n'
            'accept PayPal.\n\n**Trial.** 14 days of the Team plan, without a credit '
            'card.\n\n## Data\n\n- Backups are made every six hours.',
            'Can I pay with paypal?',
            'No, we do not accept PayPal. You can pay by credit card.',
            ['You can pay by credit card.', 'Yes, we accept PayPal.'],
            'a page with markup and lines that are wrapped',
        ),
        (PLANS, 'Hi there!', 'Hello! How can I help you?', [PLANS[:37]], 'a greeting'),
        (
            PLANS,
            'hi there, how are you?',
            'Hi! I am fine, thanks. What can I do for you?',
            ['I do not know.', PLANS[:37]],
            'small talk, though it has a question mark',
        ),
        (
            PLANS,
            'Thanks, that helps a lot.',
            'You are welcome! Enjoy the snow.',
            [PLANS[:37], "I'm sorry, I don't know."],
            'thanks',
        ),
        (
            MUSEUM,
            'When did the museum open?',
            'It opened in 1903.',
            ["Sorry, I don't know.", 'It was designed by Anna Keller.'],
            'who can answer does not decline',
        ),
        (
            'The library is open from Monday to Saturday. It was built in 1910.',
            'Is it open on Sundays?',
            'No, only from Monday to Saturday.',
            ['It was built in 1910.', 'Yes, on Sundays, too.'],
            'yes or no',
        ),
    ],
)
def test_the_shipped_models_choose_the_reply_that_answers(
    knowledge, turn, best, other_replies, why
):
    reranker = Reranker(explain=None)
    for replies in ([best, *other_replies], [*other_replies, best]):
        ranking = reranker.rank(knowledge, replies, [turn])
        assert ranking.chosen.text == best, why


def test_half_an_emoji_is_read():
    ranking = Reranker(explain=None).rank(MUSEUM, [f'{OPENED} \ud83d'], [QUESTION])
    assert ranking.chosen.text == f'{OPENED} \ufffd'


def test_another_kind_of_address_answers_less():
    knowledge = 'Call 0113 496 0182 or write to info@harbour.org.'
    ask_mail, ask_call = Turn(knowledge, ['Your e-mail?']), Turn(knowledge, ['Phone?'])
    reader = TurnReader()
    for read in (reader.read_relevance, reader.read_right_answers):
        mail, call, to_call, all_given = read(
            [
                (ask_mail, 'Write to info@harbour.org.'),
                (ask_mail, 'Call 0113 496 0182.'),
                (ask_call, 'Call 0113 496 0182.'),
                (ask_mail, 'Call 0113 496 0182 or write to info@harbour.org.'),
            ]
        )
        assert call <= TurnReader.OTHER_THING < min(mail, to_call, all_given)


def test_check_out_is_no_answer_to_a_question_for_check_in():
    turn = Turn('Check-in is from 3 pm. Check-out is by 11 am.', ['When is check-in?'])
    reader = TurnReader()
    for read in (reader.read_relevance, reader.read_right_answers):
        wrong, right = read([(turn, 'Check-out is by 11 am.'), (turn, 'From 3 pm.')])
        assert wrong <= TurnReader.OTHER_THING < right


def test_the_hours_of_the_day_that_is_asked_for_are_the_right_answer():
    turns = ['Are you open on Sunday?', 'No.', 'And on Saturday?']
    turn = Turn('Open Mon-Fri 9-19 and Sat 10-16. Closed on Sundays.', turns)
    replies = ['Yes, from 10 to 4.', 'Yes, from 9 to 7.', 'On Sundays we are closed.']
    right, *wrong = TurnReader().read_right_answers([(turn, r) for r in replies])
    assert max(wrong) <= TurnReader.OTHER_THING < TurnReader.SCHEDULED <= right


def test_a_batch_is_read_as_its_pairs_alone():
    pairs = [
        (Turn(MUSEUM, [QUESTION]), 'Anna Keller did.'),
        (Turn('', [QUESTION]), "I don't know."),
        (Turn(MUSEUM, ['Hi!', 'Tell me more.']), OPENED),
        (Turn(MUSEUM, [QUESTION]), ''),
    ]
    reader = TurnReader()
    for read in (reader.read_relevance, reader.read_right_answers):
        together = read(pairs)
        assert together == pytest.approx([read([pair])[0] for pair in pairs], abs=1e-5)
        assert all(0 <= value <= 1 for value in together)


@pytest.mark.parametrize(
    'turn, decline, is_relevant',
    [
        (QUESTION, "I don't know who did.", False),
        ('Who paid for the museum?', "I'm afraid that isn't stated.", True),
        ('I like museums.', "Sorry, I don't know.", False),
    ],
)
def test_a_decline_is_relevant_where_the_knowledge_has_no_answer(
    turn, decline, is_relevant
):
    (value,) = TurnReader().read_relevance([(Turn(MUSEUM, [turn]), decline)])
    assert (value > 0.5) == is_relevant


@pytest.mark.parametrize(
    'turn, expected',
    [
        (QUESTION, True),
        ('Is it open on Sundays?', False),
        ('How do I get there?', False),
        ('I like museums.', False),
        ('', False),
    ],
)
def test_wants_span_for_questions_with_short_answers(turn, expected):
    assert wants_span(turn) is expected


def test_the_answers_of_knowledge_and_reply_are_compared():
    turn = Turn(['It opened in 1903.', 'It was designed by Anna Keller.'], [QUESTION])
    replies = ['It was designed by Anna Keller.', 'It was designed by Otto Brandt.']
    claims = AnswerComparer().compare(
        [(turn, replies[0]), (turn, replies[1]), (Turn('Bees.', ['Hi!']), 'Hello!')]
    )
    right, wrong, nothing = claims
    assert right.question == QUESTION
    assert right.span.text == 'Anna Keller'
    assert (right.comparison, right.evidence[0].passage) == ('exact', 1)
    assert wrong.span.text == 'Otto Brandt'
    assert wrong.f1 == 0
    assert nothing is None


def test_rows_have_the_worth_that_decides():
    candidate = Candidate(
        'It is red.', guarded_score=0.5, relevance=0.5, right_answer=0.5
    )
    ranking = choose([candidate], Rule(), (Passage('It is red.'),), QUESTION)
    (row,) = ranking.rows()
    assert row['worth'] == pytest.approx(worth_of(candidate, QUESTION))
    assert Ranking.from_dict(ranking.to_dict()).chosen.worth == row['worth']
    by_score = choose([candidate], Rule('score'), (Passage('It is red.'),), QUESTION)
    assert by_score.rows()[0]['worth'] is None
