"""
Weights between two models, and the folder that ships.
"""

import json

import pytest
import torch
from transformers import AutoModelForSequenceClassification

from parlai_q2.errors import ConfigError, ModelError
from parlai_q2.models.loading import load_model, load_tokenizer
from parlai_q2.zoo.train.weights import (
    as_shipped,
    best_alpha,
    copied,
    interpolated,
    write_folder,
)
from tests.zoo.tiny_training import encoder

OLD = {'w': torch.tensor([0.0, 4.0]), 'n': torch.tensor(1)}
NEW = {'w': torch.tensor([1.0, 0.0]), 'n': torch.tensor(2)}


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    return encoder(tmp_path_factory.mktemp('models') / 'bert')


def test_the_ends_of_the_line_are_the_two_models():
    assert torch.equal(interpolated(OLD, NEW, 0)['w'], OLD['w'])
    assert torch.equal(interpolated(OLD, NEW, 1)['w'], NEW['w'])


def test_a_quarter_of_the_way():
    # 0 + 1/4 of 1, and 4 - 1/4 of 4; whole numbers are not interpolated.
    found = interpolated(OLD, NEW, 0.25)
    assert found['w'].tolist() == [0.25, 3.0]
    assert found['n'] == 2


@pytest.mark.parametrize('alpha', [-0.1, 1.1])
def test_beyond_the_ends_is_refused(alpha):
    with pytest.raises(ConfigError, match='alpha'):
        interpolated(OLD, NEW, alpha)


def test_models_of_two_kinds_have_no_line_between_them():
    with pytest.raises(ConfigError, match='architecture'):
        interpolated(OLD, {'w': NEW['w']}, 0.5)


def line(best):
    """
    A layer trained from 0 to 1, and a measure that is best somewhere between.
    """
    model = torch.nn.Linear(1, 1, bias=False)
    model.weight.data.fill_(0.0)
    before = copied(model)
    model.weight.data.fill_(1.0)

    def measure(m):
        return {'score': -abs(m.weight.item() - best)}

    return model, before, measure


def test_the_model_is_left_at_the_best_point():
    model, before, measure = line(best=0.4)
    figures = best_alpha(model, before, (1, 0, 0.5), measure)
    assert model.weight.item() == 0.5
    assert [f['alpha'] for f in figures] == [0, 0.5, 1]


def test_of_two_points_as_good_the_one_nearer_to_the_initial_model_is_taken():
    model, before, measure = line(best=0.5)
    best_alpha(model, before, (0, 1), measure)
    assert model.weight.item() == 0.0


def test_what_is_measured_is_what_would_ship():
    # One row of 4,097 numbers, the largest 127: the grid's step is 1.
    model = torch.nn.Linear(4097, 1, bias=False)
    model.weight.data.fill_(3.0)
    model.weight.data[0, 0] = 127.0
    before = copied(model)
    model.weight.data[0, 1:] += 0.4  # less than half a step
    seen = []

    def measure(m):
        seen.append(m.weight[0, 1].item())
        return {'score': float(len(seen))}

    best_alpha(model, before, (0, 1), measure)
    assert seen == [3.0, 3.0]
    assert as_shipped(copied(model))['weight'][0, 1] == 3.0


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
    assert set(json.loads((tmp_path / 'sha256.json').read_text())) == {
        'config.json',
        'model.int8.safetensors',
        'tokenizer.json',
        'tokenizer_config.json',
    }


def test_a_file_that_changed_afterwards_is_found_out(folder, tmp_path):
    model = load_model(folder, AutoModelForSequenceClassification, num_labels=4)
    write_folder(model, load_tokenizer(folder), tmp_path)
    config = tmp_path / 'config.json'
    config.write_text(config.read_text() + ' ')
    with pytest.raises(ModelError, match='config.json'):
        load_model(str(tmp_path), AutoModelForSequenceClassification)
