"""
The question generator: which search it uses, and that both give the same questions.
"""

import pytest

from parlai_q2.errors import ConfigError
from parlai_q2.models.question_generation import Seq2SeqQuestionGenerator
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
    generating = generator.generating()
    assert generator.searcher() is not None and generating.searcher() is None
    assert generating.generate(PAIRS) == asked
    # It decides nothing, so it is no part of the settings.
    assert generating.settings == generator.settings


@pytest.mark.slow
def test_the_shipped_model_asks_the_same_by_both_searches():
    # Twelve responses of the sample, every question of every span.
    from parlai_q2.scripts.bench import sample

    config = load_preset('mini_float32').model('question_generation')
    generator = Seq2SeqQuestionGenerator(config, **config.settings)
    responses = [fields['response'] for fields in sample()[:12]]
    pairs = [
        (span.text, context_of(response, span, 90))
        for response, spans in zip(responses, informative_spans(responses), strict=True)
        for span in spans
    ]
    assert len(pairs) > 24
    assert generator.generate(pairs) == generator.generating().generate(pairs)


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
