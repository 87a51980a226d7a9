"""
Which questions are asked: spans, the personal filter, the round trip, the variants.
"""

import pytest

from parlai_q2.q2 import ask as ask_module
from parlai_q2.q2.ask import context_of, same_answer, valid_questions
from parlai_q2.q2.settings import Q2Settings
from parlai_q2.records import Span
from tests.toys import ToyQuestionAnswerer, ToyQuestionGenerator

RESPONSE = 'it was formed in 1983 in la'


def spans_at(*texts):
    def find(responses):
        return [
            [Span(t, r.find(t), r.find(t) + len(t)) for t in texts if t in r]
            for r in responses
        ]

    return find


def ask(questions, answers, *spans, responses=(RESPONSE,), **settings):
    generator, answerer = ToyQuestionGenerator(questions), ToyQuestionAnswerer(answers)
    found = valid_questions(
        responses, spans_at(*spans), generator, answerer, Q2Settings(**settings)
    )
    return [[q.text for q in row] for row in found], answerer


def test_single_keeps_the_first_valid_question_in_beam_order():
    questions = {'1983': ['Where was it formed?', 'When was it formed?', 'What year?']}
    answers = {
        'Where was it formed?': ['la'],
        'When was it formed?': ['1983'],
        'What year?': ['1983'],
    }
    assert ask(questions, answers, '1983')[0] == [['When was it formed?']]


def test_multi_keeps_all_valid_questions():
    questions = {'1983': ['Where was it formed?', 'When was it formed?', 'What year?']}
    answers = {
        'Where was it formed?': ['la'],
        'When was it formed?': ['1983'],
        'What year?': ['1983'],
    }
    found, _ = ask(questions, answers, '1983', variant='multi')
    assert found == [['When was it formed?', 'What year?']]


def test_a_question_that_the_response_does_not_answer_fails_the_round_trip():
    assert ask({'1983': ['Who sang?']}, {'Who sang?': ['flea']}, '1983')[0] == [[]]


def test_the_round_trip_compares_after_normalisation():
    found, _ = ask({'1983': ['When?']}, {'When?': ['in 1983']}, '1983')
    assert found == [['When?']]


def test_personal_questions_are_passed_over():
    questions = {'1983': ['When did you form?', 'When was it formed?']}
    answers = {'When did you form?': ['1983'], 'When was it formed?': ['1983']}
    assert ask(questions, answers, '1983')[0] == [['When was it formed?']]


def test_personal_questions_count_when_the_filter_is_off():
    questions = {'1983': ['When did you form?']}
    answers = {'When did you form?': ['1983']}
    found, _ = ask(questions, answers, '1983', personal_filter=False)
    assert found == [['When did you form?']]


def test_a_span_found_twice_is_asked_for_twice():
    found, _ = ask({'1983': ['When?']}, {'When?': ['1983']}, '1983', '1983')
    assert found == [['When?', 'When?']]


@pytest.mark.parametrize(
    'few, calls',
    [
        (0, [2, 1]),  # both first questions, then la's second
        (1, [2, 1]),  # la has two more questions
        (24, [2, 2]),  # which are answered together
    ],
)
def test_questions_are_answered_in_rounds_until_few_are_left(monkeypatch, few, calls):
    monkeypatch.setattr(ask_module, 'FEW', few)
    questions = {'1983': ['When?', 'unused'], 'la': ['Who?', 'Where?', 'In what?']}
    answers = {
        'When?': ['1983'],
        'Who?': ['it'],
        'Where?': ['la'],
        'In what?': ['la'],  # a second valid one is not wanted
    }
    found, answerer = ask(questions, answers, '1983', 'la')
    assert found == [['When?', 'Where?']]
    assert answerer.calls == calls


def test_every_response_of_a_batch_is_asked_in_the_same_rounds():
    questions, answers = {'1983': ['When?']}, {'When?': ['1983']}
    found, answerer = ask(
        questions, answers, '1983', responses=[RESPONSE, 'wow', RESPONSE]
    )
    assert found == [['When?'], [], ['When?']]
    assert answerer.calls == [2]


@pytest.mark.parametrize(
    'one, other, expected',
    [
        ('the USA', 'usa', True),
        ('in 1983', '1983', True),
        ('LA', 'Los Angeles', False),
        ('', 'the', True),
    ],
)
def test_same_answer(one, other, expected):
    assert same_answer(one, other) is expected


def test_the_context_of_a_short_response_is_all_of_it():
    assert context_of(RESPONSE, Span('la', 25, 27), 90) == RESPONSE


def test_the_context_in_a_long_response_is_the_window_that_holds_the_span():
    response = 'filler words here. ' * 50 + 'Sephora opened in 1969. ' + 'more. ' * 50
    start = response.index('1969')
    context = context_of(response, Span('1969', start, start + 4), 20)
    assert 'Sephora opened in 1969.' in context
    assert len(context.split()) <= 20
