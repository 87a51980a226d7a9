"""Adapters: their terms are added to the weights of the layers that may have one."""

import copy

import pytest
import torch

from parlai_q2.errors import ModelError
from parlai_q2.models.lora import adaptable_layers, merge_adapter
from tests.tiny import t5

LAYER = 'encoder.block.0.layer.0.SelfAttention.q'


@pytest.fixture
def model():
    made = t5(50, 0, feed_forward_proj='gated-gelu', tie_word_embeddings=False)
    # transformers 5 ties them where a T5 is made, whatever its configuration says.
    made.lm_head.weight = torch.nn.Parameter(made.lm_head.weight.detach().clone())
    return made.eval()


def adapter(layer, rank=2):
    weight = layer.weight
    return {
        f'{LAYER}.lora_a': torch.randn(rank, weight.shape[1]),
        f'{LAYER}.lora_b': torch.randn(weight.shape[0], rank),
    }


def test_an_output_layer_that_is_also_the_embedding_gets_no_adapter(model):
    assert 'lm_head' in dict(adaptable_layers(model))
    model.lm_head.weight = model.shared.weight
    assert 'lm_head' not in dict(adaptable_layers(model))


def test_merging_adds_a_layers_term_and_changes_no_other(model):
    plain, layer = copy.deepcopy(model), model.get_submodule(LAYER)
    given = adapter(layer)
    merge_adapter(model, given)
    x = torch.randn(3, layer.in_features)
    low_rank = x @ given[f'{LAYER}.lora_a'].T
    expected = plain.get_submodule(LAYER)(x) + low_rank @ given[f'{LAYER}.lora_b'].T
    assert torch.allclose(layer(x), expected, atol=1e-5)
    before, after = plain.state_dict(), model.state_dict()
    changed = [n for n, t in before.items() if not torch.equal(t, after[n])]
    assert changed == [f'{LAYER}.weight']


def test_an_adapter_for_another_model_is_refused(model):
    other = {'encoder.block.9.layer.0.SelfAttention.q.lora_a': torch.zeros(2, 16)}
    with pytest.raises(ModelError, match='block.9'):
        merge_adapter(model, other)
