"""
What is done for a GPU alone: the same results where there is one, and elsewhere what of
it the processor can run.
"""

import pytest
import torch

from parlai_q2 import Example, load_scorer
from parlai_q2.models.engine.t5 import decoder, search
from parlai_q2.models.engine.t5.beams import BeamSettings
from tests.models.engine.test_t5_search import (
    END,
    assert_same,
    inputs,
    random_t5,
    searched,
)

SETTINGS = {'num_beams': 5, 'max_new_tokens': 8, 'no_repeat_ngram_size': 3}


@pytest.mark.parametrize('spans_at_once', [40, 512])
def test_the_search_for_a_gpu_finds_what_the_processors_does(
    monkeypatch, spans_at_once
):
    model, prompts = random_t5(), inputs(80)
    expected = searched(model, prompts, **SETTINGS)
    for module in (search, decoder):
        monkeypatch.setattr(module, 'is_cpu', lambda device: False)
    monkeypatch.setattr(search, 'length_step', lambda device: 32)
    assert_same(searched(model, prompts, spans_at_once, **SETTINGS), expected)


def test_what_a_step_makes_is_on_the_models_device():
    found = search.T5Search(random_t5().to('meta'))
    settings = BeamSettings(start=0, end=END, **SETTINGS)
    lane, beams = found._begin(inputs(1), [0], settings)
    tokens = beams.tokens[:, :, -1].flatten()
    bias = found.decoder.position_bias(settings.max_new_tokens)
    hidden = found.decoder.step([lane], tokens, bias)
    values, words = search.likeliest(found.output, hidden, 10, None)
    assert {x.device.type for x in (tokens, bias, hidden, values, words)} == {'meta'}
    assert lane.end_step(torch.zeros(1, 5, dtype=torch.long, device='meta')) is None


@pytest.mark.parametrize(
    'options, sizes, at_once',
    [
        ({}, {32}, 64),
        ({'device': 'cuda:0'}, {512}, 512),
        ({'device': 'cuda:0', 'batch_size': 8}, {8}, 64),
        ({'device': 'cpu', 'batch_size': 8}, {8}, 64),
    ],
)
def test_calls_are_large_on_a_gpu_unless_a_size_was_asked_for(options, sizes, at_once):
    scorer = load_scorer('q2', **options)
    models = scorer.models
    backends = models.generator, models.answerer, models.nli
    assert {backend.batch_size for backend in backends} == sizes
    assert scorer.at_once == at_once


@pytest.mark.skipif(not torch.cuda.is_available(), reason='there is no GPU')
def test_grounded_gives_the_values_of_the_processor():
    pairs = [
        ('Sephora was founded in Limoges in 1969.', 'It opened in Paris in 1969.'),
        ('Bees have five eyes.', 'Cool!'),
    ]
    examples = [Example(*pair) for pair in pairs]
    expected = load_scorer('grounded', preset='mini_float32').score(examples)
    found = load_scorer('grounded', device='cuda:0').score(examples)
    assert [s.label for s in found] == [s.label for s in expected]
    assert [s.value for s in found] == pytest.approx(
        [s.value for s in expected], abs=1e-4
    )
