"""The question generator: which engine it uses, and what it is told."""

from types import SimpleNamespace

import pytest

from parlai_q2.errors import ConfigError
from parlai_q2.models.question_generation import Seq2SeqQuestionGenerator
from parlai_q2.presets import ModelConfig

SHIPPED = 'shipped:q2_mini/question_generation'


def test_a_prompt_is_cut_to_its_limit_and_ends_with_the_end_token():
    config = ModelConfig(SHIPPED)
    generator = Seq2SeqQuestionGenerator(config, max_prompt_tokens=12)
    long = generator.generate([('Rome', 'Rome is old and large and far away ' * 40)])
    assert long == generator.generate([('Rome', 'Rome is old and large and far ' * 9)])


@pytest.mark.parametrize('engine', ['ctranslate2', 'transformers'])
def test_a_batch_that_does_not_fit_is_written_in_halves(monkeypatch, engine):
    monkeypatch.setenv('OMP_NUM_THREADS', '2')
    pairs = [(f'198{n}', f'the band formed in 198{n}') for n in range(6)]
    generator = Seq2SeqQuestionGenerator(
        ModelConfig(SHIPPED), 'greedy', max_new_tokens=8, engine=engine
    )
    expected = generator.generate(pairs)
    writer, calls = generator._loaded(), []
    name = 'generate' if engine == 'transformers' else 'translate_batch'
    write = getattr(writer.model, name)

    def write_one(rows, **options):
        calls.append(len(rows))
        if len(rows) > 1:
            raise RuntimeError('CUDA failed with error out of memory')
        return write(rows, **options)

    monkeypatch.setattr(writer, 'model', SimpleNamespace(**{name: write_one}))
    if engine == 'transformers':
        writer.model.device = 'cpu'
    assert generator.generate(pairs) == expected
    assert max(calls) > 1
    assert calls.count(1) == len(pairs)


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
