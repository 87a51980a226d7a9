"""Sections of a preset that read with two models."""

import numpy as np
import pytest

from parlai_q2.errors import Q2Error
from parlai_q2.models.ensemble import SHARPNESS
from parlai_q2.presets import ModelConfig, load_preset, with_detector
from parlai_q2.scorers import backends, load_scorer
from parlai_q2.turns import Example

PAIRS = [
    ('Bees have five eyes.', 'They have five eyes.'),
    ('Bees have five eyes.', 'They have six eyes.'),
    ('Bees have five eyes.', 'That is so cool!'),
]
# Any other classifier with the classes of mini's detector.
OTHER = 'shipped:q2_base/consistency'
BOTH = f'base: mini\ndetector: {{mean_with: "{OTHER}"}}\n'


@pytest.fixture
def both(tmp_path):
    path = tmp_path / 'both.yaml'
    path.write_text(BOTH)
    return str(path)


def _alone(tmp_path, model):
    path = tmp_path / 'alone.yaml'
    path.write_text(f'base: mini\ndetector: {{model: "{model}", settings: base}}\n')
    return backends.detector(load_preset(str(path)))


def test_the_classes_are_the_normalised_geometric_mean(both, tmp_path):
    mini = backends.detector(load_preset('mini')).classify(PAIRS)
    base = _alone(tmp_path, OTHER).classify(PAIRS)
    assert mini != base
    expected = np.sqrt(np.array(mini) * np.array(base))
    expected /= expected.sum(1, keepdims=True)
    mean = backends.detector(load_preset(both)).classify(PAIRS)
    np.testing.assert_allclose(np.array(mean), expected, atol=1e-4)
    assert backends.detector(load_preset(both)).classify([]) == []


def test_base_reads_with_both_detectors(both):
    rows = [
        np.array(backends.detector(load_preset(preset)).classify(PAIRS))
        for preset in ('base', both)
    ]
    np.testing.assert_allclose(*rows, atol=1e-6)


def test_a_batch_is_each_pair_alone_and_the_signature_names_both(both):
    scorer = load_scorer('consistency', both)
    examples = [Example(*pair) for pair in PAIRS]
    alone = [scorer.score([example])[0].value for example in examples]
    assert [s.value for s in scorer.score(examples)] == pytest.approx(alone, abs=1e-6)
    signature = str(scorer.signature)
    assert '|detector:shipped:q2_mini/consistency@' in signature
    assert f'|detector_2:{OTHER}@' in signature


def test_an_ensemble_can_be_another_presets_detector(both):
    preset = with_detector(load_preset('mini'), both)
    assert len(backends.detector(preset).models) == 2


def test_null_leaves_the_first_alone(both, tmp_path):
    path = tmp_path / 'alone.yaml'
    path.write_text(f'base: {both}\ndetector: {{mean_with: null}}\n')
    assert 'detector_2' not in str(load_scorer('consistency', str(path)).signature)


@pytest.mark.parametrize('other', ['shipped:q2_mini/nothing', '3'])
def test_a_model_that_is_not_there_is_named(tmp_path, other):
    path = tmp_path / 'both.yaml'
    path.write_text(f'base: mini\ndetector: {{mean_with: {other}}}\n')
    with pytest.raises(Q2Error, match=other.rpartition('/')[2]):
        load_scorer('consistency', path).score([Example(*PAIRS[0])])


REPLIES = [
    ('It opened in 1903. Keller built it.', ['Who built it?'], 'Keller.'),
    ('It opened in 1903. Keller built it.', ['Who built it?'], 'It opened in 1903.'),
]


def test_base_reads_relevance_with_both_models(tmp_path):
    preset = load_preset('base')
    mini = backends.relevance(load_preset('mini')).predict_answers(REPLIES)
    model = ModelConfig('shipped:q2_base/relevance', settings={'batch_size': 8})
    alone = backends.relevance(preset.with_model('relevance', model))
    larger = alone.predict_answers(REPLIES)
    both = backends.relevance(preset).predict_answers(REPLIES)
    for first, second, mean in zip(mini, larger, both, strict=True):
        assert first != second
        support = (first.support + second.support) / 2
        assert mean.support == pytest.approx(support, abs=1e-4)
        assert mean.best == pytest.approx(
            SHARPNESS * (first.best + second.best) / 2, abs=1e-4
        )
    right, beside = both
    assert right.best > beside.best
    assert right.support > 0
    answers, misses = backends.relevance(preset).predict_relevance(
        [(turns, reply) for _, turns, reply in REPLIES]
    )
    assert answers > misses
    assert backends.relevance(preset).predict_answers([]) == []
