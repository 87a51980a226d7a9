"""How a pair becomes one input."""

import pytest

from parlai_q2.errors import ConfigError
from parlai_q2.models.nli import PairInput, find_labels
from parlai_q2.models.tokens import Tokens
from tests.agents.tiny_classifiers import tokenizer

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
