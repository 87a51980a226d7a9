"""Adapters: the base stays as it was, and the merged model equals the adapted one."""

import copy

import pytest
import torch

from parlai_q2.errors import ModelError
from parlai_q2.models.lora import (
    adapter_state,
    add_adapters,
    continue_from,
    merge_adapter,
)
from tests.tiny import t5


@pytest.fixture
def model():
    return t5(50, 0, feed_forward_proj='gated-gelu', tie_word_embeddings=False).eval()


def logits(model):
    ids = torch.arange(1, 9)[None]
    with torch.no_grad():
        return model(input_ids=ids, decoder_input_ids=ids[:, :4]).logits


def test_an_output_layer_that_is_also_the_embedding_gets_no_adapter(model):
    model.lm_head.weight = model.shared.weight
    add_adapters(model, 4)
    assert not any('lm_head' in name for name in adapter_state(model))


def test_merging_gives_the_adapted_model(model):
    plain = copy.deepcopy(model)
    add_adapters(model, 4)
    for name, p in model.named_parameters():
        if name.endswith('lora_b'):
            p.data.normal_(std=0.1)
    adapted = logits(model)
    assert not torch.allclose(adapted, logits(plain), atol=1e-3)
    merge_adapter(plain, adapter_state(model))
    assert torch.allclose(logits(plain), adapted, atol=1e-5)


def test_an_adapter_for_another_model_is_refused(model):
    adapter = {'encoder.block.9.layer.0.SelfAttention.q.lora_a': torch.zeros(2, 16)}
    with pytest.raises(ModelError, match='block.9'):
        merge_adapter(model, adapter)


def test_training_goes_on_from_an_adapter_of_a_lower_rank(model):
    other = copy.deepcopy(model)
    add_adapters(model, 2)
    for name, p in model.named_parameters():
        if name.endswith('lora_b'):
            p.data.normal_(std=0.1)
    trained = adapter_state(model)
    continue_from(add_adapters(other, 5), trained)
    assert torch.allclose(logits(other), logits(model), atol=1e-5)


def test_an_adapter_of_a_higher_rank_is_not_cut_to_fit(model):
    trained = adapter_state(add_adapters(copy.deepcopy(model), 5))
    with pytest.raises(ModelError, match='--rank'):
        continue_from(add_adapters(model, 2), trained)
