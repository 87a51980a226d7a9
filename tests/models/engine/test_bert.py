"""
BERT and MPNet from int8 weights against transformers', on random weights; and what
happens to folders that are wrong.
"""

import json
from pathlib import Path

import pytest
import torch
import transformers
from transformers import (
    BertConfig,
    BertForQuestionAnswering,
    BertForSequenceClassification,
)

from parlai_q2.errors import ConfigError, ModelError
from parlai_q2.models.encoders import HuggingFaceEncoder, load_encoder
from parlai_q2.models.engine import bert
from parlai_q2.models.engine.bert import Bert, MPNet
from parlai_q2.models.engine.int8_weights import (
    INT8_WEIGHTS,
    load_int8,
    read_int8,
    stored_form,
    write_int8,
)
from parlai_q2.models.loading import load_model, load_tokenizer
from parlai_q2.models.references import resolve
from tests.tiny import encoder_config, in_int8, int8_layers, mpnet, tokenizer

CLASSIFIER = 'AutoModelForSequenceClassification'
READER = 'AutoModelForQuestionAnswering'
CLASSES = {CLASSIFIER: BertForSequenceClassification, READER: BertForQuestionAnswering}
SHAPES = ((3, 24), (1, 8), (2, 40))


def folder(place, auto_class, **changes):
    """A folder with a random BERT in int8."""
    size = tokenizer(place, pair_tokens=True)
    torch.manual_seed(4)
    config = encoder_config(
        BertConfig,
        size,
        hidden_size=96,
        num_attention_heads=3,
        intermediate_size=128,
        num_labels=2 if auto_class == READER else 4,
        initializer_range=0.2,
        **changes,
    )
    in_int8(CLASSES[auto_class](config), place)
    return str(place)


def batches(kinds=True, padded=True):
    generator = torch.Generator().manual_seed(0)
    made = []
    for size, length in SHAPES:
        mask = torch.ones(size, length, dtype=torch.long)
        if padded:
            mask[0, length - 5 :] = 0
        batch = {
            'input_ids': torch.randint(5, 30, (size, length), generator=generator),
            'attention_mask': mask,
        }
        if kinds:
            batch['token_type_ids'] = torch.randint(
                0, 2, (size, length), generator=generator
            )
        made.append(batch)
    return made


def mpnet_folder(place):
    """A folder with a random MPNet in int8."""
    in_int8(mpnet(tokenizer(place, pair_tokens=True)), place)
    return str(place)


def hugging_face(place, auto_class):
    """Transformers' model of a folder, with linear layers in int8."""
    model = load_model(place, getattr(transformers, auto_class))
    stored = read_int8(Path(place) / INT8_WEIGHTS)
    return HuggingFaceEncoder(int8_layers(model, stored))


@pytest.mark.parametrize('padded', [True, False])
def test_an_mpnet_computes_what_transformers_does(tmp_path, padded):
    place = mpnet_folder(tmp_path)
    own = load_encoder(place, CLASSIFIER, arithmetic='int8')
    assert isinstance(own, MPNet)
    given = batches(kinds=False, padded=False)
    if padded:
        for batch in given:
            batch['input_ids'][0, -5:] = own.config.pad_token_id
            batch['attention_mask'][0, -5:] = 0
    theirs = hugging_face(place, CLASSIFIER)
    for a, b in zip(own.logits(given), theirs.logits(given), strict=True):
        assert torch.allclose(a, b, atol=1e-5 * b.abs().max().item())
    # A row alone is the same to the last bit.
    for batch, together in zip(given, own.logits(given), strict=True):
        (alone,) = own.logits([{name: rows[:1] for name, rows in batch.items()}])
        assert torch.equal(alone[0], together[0])


@pytest.mark.parametrize('auto_class', CLASSES)
@pytest.mark.parametrize('kinds, padded', [(True, True), (False, False)])
def test_its_logits_are_those_of_transformers(tmp_path, auto_class, kinds, padded):
    place = folder(tmp_path, auto_class)
    own = load_encoder(place, auto_class, arithmetic='int8')
    assert isinstance(own, Bert)
    given = batches(kinds, padded)
    expected = hugging_face(place, auto_class).logits(given)
    assert [len(e.unique()) > 3 for e in expected] == [True] * 3
    for a, b in zip(own.logits(given), expected, strict=True):
        assert torch.equal(a, b)


@pytest.mark.parametrize(
    'changes',
    [
        {'hidden_act': 'relu'},
        {'position_embedding_type': 'relative_key'},
        {'layer_norm_eps': None},  # an old configuration leaves it unsaid
    ],
)
def test_a_bert_of_another_make_computes_in_fp32_alone(tmp_path, changes):
    place = folder(tmp_path, CLASSIFIER)
    config = {**json.loads((tmp_path / 'config.json').read_text()), **changes}
    said = {name: value for name, value in config.items() if value is not None}
    (tmp_path / 'config.json').write_text(json.dumps(said))
    with pytest.raises(ConfigError, match='cannot compute in int8.*"arithmetic: fl'):
        load_encoder(place, CLASSIFIER, arithmetic='int8')
    if 'position_embedding_type' not in changes:  # it would need further weights
        logits = load_encoder(place, CLASSIFIER).logits(batches())
        assert logits[0].shape == (3, 4)


@pytest.mark.parametrize('kind', ['bert', 'mpnet'])
def test_what_is_longer_than_the_model_reads_is_told_of(tmp_path, kind):
    # MPNet's first two positions are those of padding and what is before it.
    place = mpnet_folder(tmp_path) if kind == 'mpnet' else folder(tmp_path, CLASSIFIER)
    own = load_encoder(place, CLASSIFIER, arithmetic='int8')
    ids = torch.full((1, 72), 5)
    with pytest.raises(
        ConfigError, match='at most 64 tokens at once, but was given 72'
    ):
        own.logits([{'input_ids': ids, 'attention_mask': torch.ones_like(ids)}])


def test_batches_that_share_products_come_out_as_each_alone(tmp_path, monkeypatch):
    own = load_encoder(folder(tmp_path, READER), READER, arithmetic='int8')
    given = batches()
    together = own.logits(given)
    monkeypatch.setattr(bert, 'TOKENS_AT_ONCE', 1)
    assert [len(g) for g in bert.groups(given)] == [1, 1, 1]
    assert list(bert.groups([])) == []
    for a, b in zip(own.logits(given), together, strict=True):
        assert torch.equal(a, b)


@pytest.mark.parametrize('wrong', [None, torch.zeros(3, 3)])
def test_weights_that_do_not_fit_the_configuration_are_refused(tmp_path, wrong):
    place, name = folder(tmp_path, CLASSIFIER), 'classifier.bias'
    state = load_int8(tmp_path / INT8_WEIGHTS)
    del state[name]
    if wrong is not None:
        state[name] = wrong
    write_int8(stored_form(state), tmp_path / INT8_WEIGHTS)
    with pytest.raises(ModelError, match=f'does not fit its config.json: {name}'):
        load_encoder(place, CLASSIFIER, arithmetic='int8')


@pytest.mark.parametrize(
    'name', ['consistency', 'question_answering', 'question_generation']
)
def test_the_shipped_tokenizers_are_those_of_the_auto_class(name):
    reference = f'shipped:q2_mini/{name}'
    own = load_tokenizer(reference)
    theirs = transformers.AutoTokenizer.from_pretrained(resolve(reference))
    assert type(own) is transformers.PreTrainedTokenizerFast
    texts = ['Bees, they say, have FIVE eyes!', '', 'naïve 🐝 12,5 %', 'x' * 300]
    given = own(texts, texts[::-1], truncation='longest_first', max_length=32)
    expected = theirs(texts, texts[::-1], truncation='longest_first', max_length=32)
    assert dict(given) == dict(expected)
    for token in ('pad_token_id', 'cls_token_id', 'eos_token_id'):
        assert getattr(own, token) == getattr(theirs, token)
    assert own.model_max_length == theirs.model_max_length
    parts = [json.loads(t.backend_tokenizer.to_str()) for t in (own, theirs)]
    for part in ('model', 'normalizer', 'pre_tokenizer', 'post_processor'):
        assert parts[0][part] == parts[1][part]
