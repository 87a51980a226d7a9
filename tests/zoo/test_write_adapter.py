"""Models stored as what they learned since their base."""

import json

import numpy as np
import torch
from transformers import AutoModelForSequenceClassification, BertConfig

from parlai_q2.models.converted.convert import quantised
from parlai_q2.models.converted.folder import merge_adapter
from parlai_q2.models.converted.weights import read_whole
from parlai_q2.models.folder import write_checksums
from parlai_q2.zoo.train.write_adapter import low_rank_terms, write_adapter

OUTPUTS = ('relevance', 'support')


def make_model(outputs):
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=200,
        hidden_size=96,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=96,
        num_labels=outputs,
    )
    return AutoModelForSequenceClassification.from_config(config)


def test_a_low_rank_product_is_the_nearest_one():
    draw = np.random.default_rng(0)
    left, right = draw.normal(size=(9, 2)), draw.normal(size=(2, 7))
    b, a = low_rank_terms(left @ right, 2)
    assert b.shape == (9, 2)
    assert a.shape == (2, 7)
    np.testing.assert_allclose(b @ a, left @ right, atol=1e-9)


def test_an_adapter_restores_a_model_with_other_outputs(tmp_path):
    from safetensors.numpy import save_file

    base, trained = make_model(4), make_model(2)
    folder = tmp_path / 'base'
    base.save_pretrained(folder)
    state = {n: t.numpy() for n, t in base.state_dict().items()}
    save_file(quantised(state), folder / 'model.int8.safetensors')
    write_checksums(folder, ['config.json', 'model.int8.safetensors'])
    with torch.no_grad():
        name = 'bert.encoder.layer.1.output.dense.weight'
        trained.load_state_dict({**trained.state_dict(), **_encoder(base)})
        weight = trained.state_dict()[name]
        weight += 0.05 * torch.randn(96, 3) @ torch.randn(3, 96)
    trained.config.id2label = dict(enumerate(OUTPUTS))
    trained.save_pretrained(tmp_path / 'trained')
    out = tmp_path / 'out'
    size = write_adapter(tmp_path / 'trained', str(folder), out, rank=8)
    assert size < (folder / 'model.int8.safetensors').stat().st_size
    merged = merge_adapter(out, folder)
    expected = trained.state_dict()[name].numpy()
    assert np.abs(read_whole(merged, name) - expected).max() < 0.02
    assert merged['classifier.weight'].shape == (2, 96)
    labels = json.loads((out / 'config.json').read_text())['id2label']
    assert tuple(labels.values()) == OUTPUTS


def _encoder(model):
    return {n: t for n, t in model.state_dict().items() if n.startswith('bert.')}
