"""Classifiers of pairs: how a pair is read, what outputs mean, premises in windows."""

import pytest
from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel

from parlai_q2.errors import ConfigError
from parlai_q2.models.nli import (
    PairInput,
    SequenceNliModel,
    check_trained,
    find_labels,
    speak_for,
)
from parlai_q2.models.nli_types import NliProbabilities
from parlai_q2.models.tokens import Tokens
from parlai_q2.presets import ModelConfig, load_preset
from tests.agents.tiny_classifiers import tokenizer

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


PAIR = ('The moon is old', 'it is red')


@pytest.fixture(scope='module')
def words(tmp_path_factory):
    return tokenizer(tmp_path_factory.mktemp('words'))


@pytest.mark.parametrize(
    'form, text, why',
    [
        (PairInput(), '[CLS] the moon is old [SEP] it is red [SEP]', 'the usual'),
        (
            PairInput(order=('hypothesis', 'premise')),
            '[CLS] it is red [SEP] the moon is old [SEP]',
            'turned round',
        ),
        (PairInput(max_tokens=9), '[CLS] the moon is [SEP] it is red [SEP]', 'longer'),
    ],
)
def test_a_pair_is_read_in_its_form(words, form, text, why):
    ids = form.encode(words, [PAIR])['input_ids'][0]
    assert words.decode(ids) == text, why


def test_the_texts_of_a_pair_are_told_apart_by_segments(words):
    encoded = PairInput().encode(words, [PAIR])
    assert encoded['token_type_ids'][0] == [0] * 6 + [1] * 4


def test_a_letter_can_be_several_tokens():
    letters = sorted(ByteLevel.alphabet())
    tokenizer = Tokenizer(BPE({letter: n for n, letter in enumerate(letters)}, []))
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    assert Tokens(tokenizer.to_str(), {}).cut('Ж' * 100, 100) == 'Ж' * 50


def test_tokens_are_counted_before_anything_is_cut(words):
    tokens = Tokens.of_transformers(words, 'words')
    assert tokens.count(*PAIR) == 10
    assert len(tokens.pairs(*zip(PAIR), 8)[0].ids) == 8
    assert tokens.count(*PAIR) == 10  # one tokenizer does not change the other


@pytest.mark.parametrize(
    'settings', [{'order': ('premise',)}, {'order': ('a', 'b')}, {'max_tokens': 3}]
)
def test_a_form_that_is_none_is_an_error(settings):
    with pytest.raises(ConfigError, match=r'order must be|max_tokens is'):
        PairInput(**settings)


def test_two_classes_are_support_and_its_opposite():
    config = {'id2label': {0: 'UNSUPPORTED', 1: 'SUPPORTED'}}
    assert find_labels(None, config, 'm') == {'entailment': 1, 'contradiction': 0}
