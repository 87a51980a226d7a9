"""Scorers on a GPU: the values of the processor's fp32, and large calls."""

import pytest

from parlai_q2 import Example, load_scorer
from parlai_q2.scorers.backends import forget_backends
from tests.devices.pretend_gpu import pretend_gpu

EXAMPLES = [
    Example('Sephora was founded in Limoges in 1969.', 'It opened in Paris in 1969.'),
    Example('Bees have five eyes.', 'Cool!'),
]


@pytest.fixture(autouse=True)
def no_backends():
    """Models of a GPU that is not there stay with none who comes later."""
    yield
    forget_backends()


@pytest.mark.slow
def test_grounded_gives_the_values_of_the_processor():
    expected = load_scorer('grounded', preset='mini_float32').score(EXAMPLES)
    with pretend_gpu() as counted:
        found = load_scorer('grounded', device='cuda:0').score(EXAMPLES)
        assert counted.calls > 1000
    for gpu, cpu in zip(found, expected, strict=True):
        assert gpu.value == pytest.approx(cpu.value, abs=1e-5)
        assert gpu.label == cpu.label
        questions = [(v.question, v.knowledge_answer) for v in cpu.verdicts]
        assert [(v.question, v.knowledge_answer) for v in gpu.verdicts] == questions
    assert expected[0].verdicts and not expected[1].verdicts


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
