"""Models stored as what they learned since their base."""

import json

import numpy as np
import torch

from parlai_q2.models.converted.reader import merge_adapter
from parlai_q2.models.converted.weights import read_whole
from parlai_q2.models.model_files import write_checksums
from parlai_q2.zoo.train.write_adapter import low_rank_terms, write_adapter
from tests.tiny import in_int8, mpnet

OUTPUTS = ('relevance', 'support')
TRAINED = 'mpnet.encoder.layer.1.output.dense.weight'


def test_the_product_of_low_rank_terms_is_the_nearest_one():
    draw = np.random.default_rng(0)
    product = draw.normal(size=(9, 2)) @ draw.normal(size=(2, 7))
    b, a = low_rank_terms(product, 2)
    assert (b.shape, a.shape) == ((9, 2), (2, 7))
    np.testing.assert_allclose(b @ a, product, atol=1e-9)


def test_an_adapter_restores_a_model_with_other_outputs(tmp_path):
    base, trained = mpnet(200), mpnet(200)
    folder, out = tmp_path / 'base', tmp_path / 'out'
    in_int8(base, folder)
    write_checksums(folder, ['config.json', 'model.int8.safetensors'])
    weight = trained.state_dict()[TRAINED]
    weight += 0.1 * torch.randn(weight.shape[0], 3) @ torch.randn(3, weight.shape[1])
    trained.classifier.out_proj = torch.nn.Linear(96, len(OUTPUTS))
    trained.config.id2label = dict(enumerate(OUTPUTS))
    trained.save_pretrained(tmp_path / 'trained')
    size = write_adapter(tmp_path / 'trained', str(folder), out, rank=8)
    assert size < (folder / 'model.int8.safetensors').stat().st_size
    merged = merge_adapter(out, folder)
    apart = np.abs(read_whole(merged, TRAINED) - weight.numpy())
    before = np.abs(base.state_dict()[TRAINED].numpy() - weight.numpy())
    assert apart.mean() < 0.1 * before.mean()
    assert merged['classifier.out_proj.weight'].shape == (2, 96)
    labels = json.loads((out / 'config.json').read_text())['id2label']
    assert tuple(labels.values()) == OUTPUTS
