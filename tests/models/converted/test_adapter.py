"""An adapter of a classifier: read over its base, or refused."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from parlai_q2.errors import ModelError
from parlai_q2.io.files import file_sha256
from parlai_q2.models.loading import load_model, load_tokenizer
from parlai_q2.models.model_files import CHECKSUMS, write_checksums
from parlai_q2.models.nli import SequenceNliModel
from parlai_q2.presets import ModelConfig
from tests.tiny import BEE_WORDS, in_int8, mpnet, word_tokenizer, write_int8

PAIRS = [('bees have five eyes', 'bees have two eyes'), ('it is french', 'wow , it is')]
LABELS = {'entailment': 0, 'neutral': 1, 'contradiction': 2, 'generic': 3}
HEAD = 'classifier.out_proj.bias'


def make_base(folder):
    folder.mkdir(parents=True)
    read = ['input_ids', 'attention_mask']
    words = word_tokenizer(BEE_WORDS, model_input_names=read)
    words.save_pretrained(folder)
    in_int8(mpnet(len(words)), folder)
    write_checksums(folder, sorted(p.name for p in folder.iterdir()))
    return str(folder)


def random_terms(model, rank, scale):
    """Low-rank terms for every linear layer, by name."""
    torch.manual_seed(7)
    terms = {}
    for name, layer in model.named_modules():
        if isinstance(layer, nn.Linear):
            terms[f'{name}.lora_a'] = torch.randn(rank, layer.in_features) * 0.1
            terms[f'{name}.lora_b'] = torch.randn(layer.out_features, rank) * scale
    return terms


def add_terms(model, terms):
    for name, layer in model.named_modules():
        if f'{name}.lora_a' in terms:
            layer.weight += terms[f'{name}.lora_b'] @ terms[f'{name}.lora_a']


def write_adapter(tensors, base, folder):
    folder.mkdir(exist_ok=True)
    write_int8(tensors, folder / 'adapter.int8.safetensors')
    checksum = file_sha256(Path(base) / CHECKSUMS)
    fields = {'base': base, 'base_sha256': checksum, 'grid': 1.1}
    (folder / 'adapter.json').write_text(json.dumps(fields))
    write_checksums(folder, ['adapter.json', 'adapter.int8.safetensors'])


@pytest.fixture(scope='module')
def made(tmp_path_factory):
    place = tmp_path_factory.mktemp('models')
    base = make_base(place / 'base')
    model = load_model(base, AutoModelForSequenceClassification)
    terms = random_terms(model, rank=4, scale=0.4)
    add_terms(model, terms)
    bias = model.get_parameter(HEAD)
    bias.copy_(torch.tensor([0.5, 0.0, -0.5, 0.2]))
    write_adapter({**terms, HEAD: bias}, base, place / 'adapter')
    return place, model, terms


def asked(folder, engine='ctranslate2'):
    kind = 'float32' if engine == 'ctranslate2' else 'auto'
    settings = {'labels': LABELS, 'max_tokens': 48}
    config = ModelConfig(str(folder))
    model = SequenceNliModel(config, engine=engine, compute_type=kind, **settings)
    return np.array(model.classify(PAIRS))


def test_a_model_reads_with_its_adapter_as_it_did_in_training(made):
    place, model, _ = made
    words = AutoTokenizer.from_pretrained(place / 'base')
    for pair, probabilities in zip(PAIRS, asked(place / 'adapter'), strict=True):
        inputs = words(*pair, return_tensors='pt')
        expected = model(**inputs).logits.softmax(-1)[0].detach().numpy()
        assert np.allclose(probabilities, expected, atol=0.05)  # both are rounded
    assert not np.allclose(asked(place / 'adapter'), asked(place / 'base'), atol=0.1)


def test_both_engines_read_the_same(made):
    folder = made[0] / 'adapter'
    assert np.allclose(asked(folder), asked(folder, 'transformers'), atol=1e-4)


def test_a_base_that_was_changed_is_refused(made, tmp_path):
    folder = shutil.copytree(made[0] / 'adapter', tmp_path / 'adapter')
    listing = json.loads((folder / 'adapter.json').read_text())
    (folder / 'adapter.json').write_text(json.dumps({**listing, 'base_sha256': '0'}))
    (folder / 'sha256.json').unlink()
    # By CTranslate2 and by transformers.
    for read in (asked, lambda folder: load_tokenizer(str(folder))):
        with pytest.raises(ModelError, match=r'made for another version of .*base'):
            read(folder)


@pytest.mark.parametrize('part', ['layer', 'shape', 'bias', 'bytes'])
def test_rejects_adapters_that_do_not_fit_their_base(made, tmp_path, part):
    base = str(made[0] / 'base')
    weights = dict(made[2])
    name = next(n for n in weights if n.endswith('.q.lora_b'))
    if part == 'layer':
        weights['nowhere.lora_a'] = torch.ones(2, 9)
        weights['nowhere.lora_b'] = torch.ones(9, 2)
    elif part == 'shape':
        weights[name] = weights[name][:-2]
    elif part == 'bias':
        weights[HEAD] = torch.zeros(3)
    write_adapter(weights, base, tmp_path)
    if part == 'bytes':
        path = tmp_path / 'adapter.int8.safetensors'
        path.write_bytes(path.read_bytes()[:-9])
        (tmp_path / 'sha256.json').unlink()
    with pytest.raises(ModelError, match=r'fit its base|adapter.int8') as error:
        asked(tmp_path)
    assert '\n' not in str(error.value)
