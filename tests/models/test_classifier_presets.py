"""Presets of other classifiers: what outputs mean is said or read, never guessed."""

import pytest

from parlai_q2 import Example, load_preset, load_scorer
from parlai_q2.errors import ConfigError
from parlai_q2.presets import with_detector
from tests.agents.tiny_classifiers import tiny_bert, write_preset

# Name, model, and the class of each output: get_labels() of FactCC's and VitaminC's
# code, in their order.
VITAMINC = ['entailment', 'contradiction', 'neutral']
PUBLISHED = [
    ('factcc', 'manueldeprada/FactCC', ['entailment', 'contradiction']),
    ('albert_vitaminc', 'tals/albert-base-vitaminc', VITAMINC),
    ('albert_vitaminc_fever', 'tals/albert-base-vitaminc-fever', VITAMINC),
    ('albert_mnli', 'tals/albert-base-mnli', VITAMINC),
    ('albert_vitaminc_mnli', 'tals/albert-base-vitaminc-mnli', VITAMINC),
]
EXAMPLE = Example('the moon is old .', 'it is not old .')


@pytest.mark.parametrize('name, model, outputs', PUBLISHED)
def test_a_preset_says_what_each_output_means(name, model, outputs):
    config = load_preset(name).model('detector')
    labels = config.settings.get('labels')
    assert config.model == model
    assert labels == {label: i for i, label in enumerate(outputs)}
    # A scorer takes the preset as it is; its weights are read when it first scores.
    assert name in str(load_scorer('consistency', name).signature)
    assert load_preset(name).model('nli') == config


def test_a_signature_says_what_is_unusual_about_a_classifier():
    vitaminc = str(load_scorer('nli', 'albert_vitaminc').signature)
    assert 'nli_labels:entailment,contradiction,neutral' in vitaminc
    assert 'nli_max_tokens:256' in vitaminc
    named = with_detector(load_preset('mini'), 'FacebookAI/roberta-large-mnli')
    signature = str(load_scorer('consistency', named).signature)
    assert 'detector_labels:model' in signature
    assert 'roberta-large-mnli' in signature
    assert 'nli_labels' not in str(load_scorer('nli', 'mini').signature)


def test_a_model_that_is_to_be_trained_is_no_scorer_yet():
    with pytest.raises(ConfigError, match='train_model -m q2:hf_classifier'):
        load_scorer('consistency', 'bert_conv_fever')


@pytest.mark.parametrize(
    'names, places',
    [
        (['CONTRADICTION', 'NEUTRAL', 'ENTAILMENT'], (2, 1, 0)),
        (['SUPPORTS', 'REFUTES', 'NOT ENOUGH INFO'], (0, 2, 1)),
        (['INCORRECT', 'CORRECT'], (1, None, 0)),
    ],
)
def test_uses_the_models_own_class_names_without_labels(tmp_path, names, places):
    model = tiny_bert(tmp_path, names)
    scorer = load_scorer('consistency', write_preset(tmp_path, model))
    [score] = scorer.score([EXAMPLE])
    findings = ('entailment', 'neutral', 'contradiction')
    labels = {f: i for f, i in zip(findings, places) if i is not None}
    labelled = load_scorer('consistency', write_preset(tmp_path, model, labels=labels))
    assert score.parts == labelled.score([EXAMPLE])[0].parts
    assert sum(score.parts.values()) == pytest.approx(1)


@pytest.mark.parametrize(
    'names, labels, says',
    [
        (['LABEL_0', 'LABEL_1'], None, 'does not say what its outputs mean'),
        (['SUPPORTS', 'CORRECT'], None, 'means the same as another'),
        (['neutral', 'contradiction'], None, "missing: \\['entailment'\\]"),
        (['INCORRECT', 'CORRECT'], {'entailment': 0, 'contradiction': 1}, 'calls it'),
        (['CORRECT'], {'entailment': 0, 'contradiction': 1}, 'has 1 classes'),
        (None, {'entailment': 0, 'contradiction': 1}, 'classifier but a BertModel'),
    ],
)
def test_a_label_order_is_never_guessed(tmp_path, names, labels, says):
    # Without names it is no classifier, and gets no random one.
    model = tiny_bert(tmp_path, names) if names else tiny_bert(tmp_path)
    settings = {} if labels is None else {'labels': labels}
    scorer = load_scorer('consistency', write_preset(tmp_path, model, **settings))
    with pytest.raises(ConfigError, match=says):
        scorer.score([EXAMPLE])
