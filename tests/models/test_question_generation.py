"""
The question generator: which search it uses, and that both give the same questions.
"""

import pytest

from parlai_q2.errors import ConfigError
from parlai_q2.models.question_generation import (
    AUTO,
    GENERATE,
    Seq2SeqQuestionGenerator,
)
from parlai_q2.presets import ModelConfig, load_preset
from parlai_q2.q2.ask import context_of
from parlai_q2.text.spans import informative_spans
from tests.tiny import tiny_t5

PAIRS = [('1983', 'the band formed in 1983'), ('la', 'they are in la'), ('wow', 'wow')]


@pytest.mark.parametrize('decoding', ['beam', 'greedy'])
def test_both_searches_ask_the_same(tmp_path, decoding):
    generator = Seq2SeqQuestionGenerator(
        ModelConfig(tiny_t5(tmp_path)), decoding, max_new_tokens=12
    )
    asked = generator.generate(PAIRS)
    assert generator.searcher() is not None
    assert generator.with_search(GENERATE).generate(PAIRS) == asked
    assert generator.with_search(GENERATE).searcher() is None


def test_the_search_is_no_part_of_the_settings_since_it_decides_nothing(tmp_path):
    generator = Seq2SeqQuestionGenerator(ModelConfig(tiny_t5(tmp_path)))
    assert generator.settings == generator.with_search(GENERATE).settings


def test_an_unknown_search_is_refused():
    with pytest.raises(ConfigError, match='auto'):
        Seq2SeqQuestionGenerator(ModelConfig('x'), search='quick')


def test_only_as_many_questions_as_asked_for(tmp_path):
    generator = Seq2SeqQuestionGenerator(
        ModelConfig(tiny_t5(tmp_path)), num_questions=2, max_new_tokens=6
    )
    assert [len(questions) for questions in generator.generate(PAIRS)] == [2, 2, 2]


@pytest.mark.slow
def test_the_shipped_model_asks_the_same_by_both_searches():
    # Twelve responses of the sample, every question of every span.
    from parlai_q2.scripts.bench import sample

    config = load_preset('mini').model('question_generation')
    generator = Seq2SeqQuestionGenerator(config, **config.settings)
    responses = [fields['response'] for fields in sample()[:12]]
    pairs = [
        (span.text, context_of(response, span, 90))
        for response, spans in zip(responses, informative_spans(responses), strict=True)
        for span in spans
    ]
    assert len(pairs) > 24
    assert generator.search == AUTO
    assert generator.generate(pairs) == generator.with_search(GENERATE).generate(pairs)


@pytest.mark.parametrize(
    'settings, says',
    [
        ({'decoding': 'sampling'}, "beam or greedy, not 'sampling'"),
        ({'num_questions': 6, 'num_beams': 5}, r'num_questions \(6\).*num_beams \(5\)'),
        ({'num_questions': 0}, r'num_questions \(0\)'),
    ],
)
def test_a_search_that_cannot_be_is_refused(settings, says):
    with pytest.raises(ConfigError, match=says):
        Seq2SeqQuestionGenerator(ModelConfig('x'), **settings)
