"""The folder that ships."""

import json

import pytest
import torch
from transformers import AutoModelForSequenceClassification

from parlai_q2.models.loading import load_model, load_tokenizer
from parlai_q2.zoo.train.weights import as_shipped, write_folder
from tests.zoo.tiny_training import encoder


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    return encoder(tmp_path_factory.mktemp('models') / 'bert')


def test_what_is_measured_is_what_would_ship():
    # One row of 4,097 numbers, the largest 127: the grid's step is 1.
    weight = torch.full((1, 4097), 3.4)
    weight[0, 0] = 127.0
    rounded = as_shipped({'w': weight, 'b': torch.tensor([0.1])})
    assert rounded['w'][0, :2].tolist() == [127.0, 3.0]
    assert rounded['b'].item() == torch.tensor(0.1).half().item()


def test_what_is_written_is_loaded_as_any_model_is(folder, tmp_path):
    torch.manual_seed(1)
    model = load_model(folder, AutoModelForSequenceClassification, num_labels=4)
    size = write_folder(model, load_tokenizer(folder), tmp_path)
    assert size == (tmp_path / 'model.int8.safetensors').stat().st_size
    again = load_model(str(tmp_path), AutoModelForSequenceClassification)
    tokens = load_tokenizer(str(tmp_path))('bees have five eyes', return_tensors='pt')
    with torch.no_grad():
        before, after = model(**tokens).logits, again(**tokens).logits
    # Matrices of up to 4,096 numbers, all of this model's, are kept in fp16.
    assert torch.allclose(before, after, atol=2e-3)
    listed = set(json.loads((tmp_path / 'sha256.json').read_text()))
    assert listed == {
        'config.json',
        'model.int8.safetensors',
        'tokenizer.json',
        'tokenizer_config.json',
    }
    assert {path.name for path in tmp_path.iterdir()} == {*listed, 'sha256.json'}
