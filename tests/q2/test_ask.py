"""Which questions are asked: spans, personal filter, round trip, variants."""

import pytest

from parlai_q2.q2 import ask as ask_module
from parlai_q2.q2.ask import read_context, valid_questions
from parlai_q2.q2.settings import Q2Settings
from parlai_q2.turns import Span
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
    questions_per_response = valid_questions(
        responses, spans_at(*spans), generator, answerer, Q2Settings(**settings)
    )
    return [[q.text for q in row] for row in questions_per_response], answerer


QUESTIONS = {
    '1983': [
        'When did you form?',
        'Where was it formed?',
        'When is it?',
        'When was it formed?',
        'What year?',
    ],
    'it': ['What was formed?'],
}
ANSWERS = {
    'When did you form?': ['1983'],
    'Where was it formed?': ['la'],
    'When is it?': ['1983'],
    # The round trip compares after normalisation.
    'When was it formed?': ['in 1983'],
    'What year?': ['1983'],
    'What was formed?': ['it'],
}
FIRST, SECOND, THING = 'When is it?', 'When was it formed?', 'What was formed?'
SKIPPING = {'skip_uninformative': True}


@pytest.mark.parametrize(
    'spans, settings, expected, why',
    [
        ('1983', {}, [FIRST], 'about the speakers; answered otherwise; the first'),
        ('1983', {'variant': 'multi'}, [FIRST, SECOND, 'What year?'], 'all valid ones'),
        ('1983', {'personal_filter': False}, ['When did you form?'], 'persona data'),
        ('it 1983 1983', {}, [THING, FIRST, FIRST], 'every span is asked about'),
        ('it 1983 1983', SKIPPING, [SECOND], 'no pronoun, each once, no vague one'),
    ],
)
def test_which_questions_are_kept(spans, settings, expected, why):
    assert ask(QUESTIONS, ANSWERS, *spans.split(), **settings)[0] == [expected], why


@pytest.mark.parametrize(
    'few, calls',
    [
        (0, [2, 1]),  # both first questions, then la's second
        (1, [2, 1]),  # la has two more questions
        (24, [2, 2]),  # which are answered together
    ],
)
def test_questions_are_answered_in_rounds_until_few_are_left(monkeypatch, few, calls):
    monkeypatch.setattr(ask_module, 'MAX_AT_ONCE', few)
    questions = {'1983': ['When?', 'unused'], 'la': ['Who?', 'Where?', 'In what?']}
    answers = {
        'When?': ['1983'],
        'Who?': ['it'],
        'Where?': ['la'],
        'In what?': ['la'],  # a second valid one is not wanted
    }
    questions_per_response, answerer = ask(questions, answers, '1983', 'la')
    assert questions_per_response == [['When?', 'Where?']]
    assert answerer.calls == calls


def test_the_context_in_a_long_response_is_the_window_that_holds_the_span():
    assert read_context(RESPONSE, Span('la', 25, 27), 90) == RESPONSE
    response = 'filler words here. ' * 50 + 'Sephora opened in 1969. ' + 'more. ' * 50
    start = response.index('1969')
    context = read_context(response, Span('1969', start, start + 4), 20)
    assert 'Sephora opened in 1969.' in context
    assert len(context.split()) <= 20
