"""A detector that is the mean of two."""

from pathlib import Path

import pytest

from parlai_q2.errors import ConfigError, UnknownNameError
from parlai_q2.presets import load_preset, with_detector
from parlai_q2.scorers import backends, load_scorer
from parlai_q2.turns import Example

PAIRS = [
    ('Bees have five eyes.', 'They have five eyes.'),
    ('Bees have five eyes.', 'They have six eyes.'),
    ('Bees have five eyes.', 'That is so cool!'),
]
BOTH = 'base: mini\ndetector: {compute_type: float32, with: mini}\n'


@pytest.fixture
def both(tmp_path):
    path = tmp_path / 'both.yaml'
    path.write_text(BOTH)
    return str(path)


@pytest.mark.parametrize('share', [None, 0.25])
def test_each_class_has_the_mean_of_two_probabilities(both, share):
    if share:
        Path(both).write_text(BOTH.replace('with:', f'share: {share}, with:'))
    weights = (0.5, 0.5) if share is None else (share, 1 - share)
    alone = [
        backends.detector(load_preset('mini'), compute_type=kind)
        for kind in ('float32', 'int8')
    ]
    one, other = (model.classify(PAIRS) for model in alone)
    found = backends.detector(load_preset(both)).classify(PAIRS)
    assert one != other
    for mean, *parts in zip(found, one, other, strict=True):
        expected = [
            sum(w * value for w, value in zip(weights, values, strict=True))
            for values in zip(*parts, strict=True)
        ]
        assert list(mean) == pytest.approx(expected, abs=1e-6)
        assert sum(mean) == pytest.approx(1)


def test_a_batch_of_it_is_each_example_alone_and_its_signature_names_both(both):
    scorer = load_scorer('consistency', both)
    examples = [Example(*pair) for pair in PAIRS]
    alone = [scorer.score([example])[0].value for example in examples]
    assert [s.value for s in scorer.score(examples)] == pytest.approx(alone, abs=1e-6)
    signature = str(scorer.signature)
    assert '|detector:shipped:q2_mini/consistency@' in signature
    assert '|detector_engine_2:ctranslate2-int8' in signature
    assert '|detector_share:0.5|' in signature


def test_it_can_be_named_as_the_detector_of_another_preset(both):
    preset = with_detector(load_preset('mini'), both)
    assert len(backends.detector(preset).models) == 2


def test_a_preset_that_is_not_there_is_named(tmp_path):
    path = tmp_path / 'both.yaml'
    path.write_text(BOTH.replace('with: mini', 'with: minni'))
    with pytest.raises(UnknownNameError, match='minni'):
        load_scorer('consistency', str(path))


def test_a_mean_of_itself_is_refused(both):
    path = Path(both)
    path.write_text(BOTH.replace('with: mini', f'with: {both}'))
    with pytest.raises(ConfigError, match='one model'):
        load_scorer('consistency', both)


@pytest.mark.parametrize('share', [0, 1.0, -0.5, 2, 'half', True])
def test_a_share_is_between_0_and_1(both, share):
    Path(both).write_text(BOTH.replace('with:', f'share: {share}, with:'))
    with pytest.raises(ConfigError, match='between 0 and 1'):
        load_scorer('consistency', both)


@pytest.mark.parametrize(
    'detector, named',
    [
        ('{compute_type: float32, with: minicheck}', 'classifier'),
        ('{model: a/b, prompt: "{premise} {hypothesis}", with: mini}', "'with'"),
        ('{compute_type: float32, share: 0.5}', "'share'"),
    ],
)
def test_only_classifiers_are_averaged(both, detector, named):
    Path(both).write_text(f'base: mini\ndetector: {detector}\n')
    with pytest.raises(ConfigError, match=named):
        load_scorer('consistency', both)


def test_nothing_takes_the_mean_of_a_base_away(both):
    alone = Path(both).with_name('alone.yaml')
    alone.write_text(f'base: {both}\ndetector: {{with: null}}\n')
    assert 'detector_share' not in str(load_scorer('consistency', str(alone)).signature)
