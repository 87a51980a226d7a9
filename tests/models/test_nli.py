"""The NLI backend's own logic: label maps and premises in windows."""

import pytest

from parlai_q2.errors import ConfigError
from parlai_q2.models.nli import SequenceNliModel, check_trained, speak_for
from parlai_q2.models.nli_types import NliProbabilities
from parlai_q2.presets import ModelConfig, load_preset

ENTAILS = NliProbabilities(0.8, 0.1, 0.1)
DENIES = NliProbabilities(0.1, 0.1, 0.8)
SILENT = NliProbabilities(0.2, 0.7, 0.1)


def test_a_label_map_reorders_a_models_outputs():
    labels = {'contradiction': 0, 'entailment': 2, 'neutral': 1}
    model = SequenceNliModel(ModelConfig('unused'), labels=labels)
    assert model.by_class([0.1, 0.2, 0.7]) == (0.7, 0.2, 0.1, 0.0)


@pytest.mark.parametrize('labels', [{'entailment': 0, 'neutral': 1}, {'entail': 0}, {}])
def test_a_label_map_must_name_the_three_classes(labels):
    with pytest.raises(ConfigError, match='labels'):
        SequenceNliModel(ModelConfig('unused'), labels=labels)


@pytest.mark.parametrize(
    'parts, expected, why',
    [
        ([SILENT], SILENT, 'one window speaks for itself'),
        ([SILENT, ENTAILS, DENIES], ENTAILS, 'one entailing window is enough'),
        ([SILENT, DENIES], DENIES, 'else the contradiction counts'),
        ([SILENT, SILENT], SILENT, 'else nothing is said'),
    ],
)
def test_chooses_the_window_of_a_long_premise(parts, expected, why):
    assert speak_for(parts) == expected, why


def test_a_head_is_trained_or_new_and_nothing_else():
    with pytest.raises(ConfigError, match="head must be trained or new, not 'old'"):
        check_trained('some/model', 'old')


def test_the_tokenizer_is_there_without_the_model(monkeypatch):
    config = load_preset('mini').model('nli')
    monkeypatch.setattr(SequenceNliModel, '_load', None)  # whoever calls it fails
    model = SequenceNliModel(config, config.settings.get('labels'))
    assert len(model.load_tokenizer().ids('The café opened.')) > 3
