"""The paper asks about every span; presets may ask about fewer."""

import pytest

from parlai_q2.errors import ConfigError
from parlai_q2.q2.ask import valid_questions
from parlai_q2.q2.metric import Q2Models
from parlai_q2.q2.one_at_a_time import q2_one_at_a_time
from parlai_q2.q2.settings import Q2Settings
from parlai_q2.records import Span
from parlai_q2.scorers import load_scorer
from tests.toys import ToyNliModel, ToyQuestionAnswerer, ToyQuestionGenerator

RESPONSE = 'it was formed in 1983'
QUESTIONS = {
    'it': ['What was formed?'],
    '1983': ['When is it?', 'When was it formed?'],
}
ANSWERS = {
    'What was formed?': ['it'],
    'When is it?': ['1983'],
    'When was it formed?': ['1983'],
}
FILTERED = Q2Settings(
    drop_pronouns='third', duplicate_spans=False, vague_questions=False
)


def find(responses):
    return [[Span('it', 0, 2), Span('1983', 17, 21)] for _ in responses]


def models():
    return Q2Models(
        ToyQuestionGenerator(QUESTIONS),
        ToyQuestionAnswerer(ANSWERS),
        ToyNliModel(),
        find,
    )


def asked(settings):
    made = models()
    (questions,) = valid_questions(
        [RESPONSE], find, made.generator, made.answerer, settings
    )
    return [q.text for q in questions]


def test_the_papers_settings_keep_pronouns_and_vague_questions():
    assert asked(Q2Settings()) == ['What was formed?', 'When is it?']


def test_the_next_question_takes_the_place_of_a_vague_one():
    assert asked(FILTERED) == ['When was it formed?']


def test_the_published_order_of_calls_filters_alike():
    pair = ('it was formed in 1983', RESPONSE)
    found = q2_one_at_a_time(pair, models(), FILTERED)
    assert [v.question for v in found.verdicts] == ['When was it formed?']


def test_a_wrong_word_for_pronouns_is_refused():
    with pytest.raises(ConfigError, match='none, third, all'):
        Q2Settings(drop_pronouns='some')


@pytest.mark.parametrize(
    'preset, pronouns, duplicates, vague',
    [('paper', 'none', 'on', 'on'), ('mini', 'third', 'off', 'off')],
)
def test_only_mini_departs_from_the_paper_and_its_signature_says_so(
    preset, pronouns, duplicates, vague
):
    settings = load_scorer('q2', preset).settings
    names = ('drop_pronouns', 'duplicate_spans', 'vague_questions')
    assert [settings[n] for n in names] == [pronouns, duplicates, vague]


def test_an_option_overrides_the_preset():
    settings = load_scorer('q2', 'mini', drop_pronouns='all').settings
    assert settings['drop_pronouns'] == 'all'
