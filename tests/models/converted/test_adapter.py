"""An adapter of a classifier: trained, written, read over its base, and refused."""

import json

import numpy as np
import pytest
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from parlai_q2.errors import ModelError
from parlai_q2.models.folder import write_checksums
from parlai_q2.models.loading import adapter_base, load_model
from parlai_q2.models.nli import SequenceNliModel
from parlai_q2.presets import ModelConfig
from parlai_q2.zoo.train.adapted import AdapterJob, attach, terms, write_adapter
from tests.tiny import BEE_WORDS, in_int8, mpnet, word_tokenizer

PAIRS = [('bees have five eyes', 'bees have two eyes'), ('it is french', 'wow , it is')]
LABELS = {'entailment': 0, 'neutral': 1, 'contradiction': 2, 'generic': 3}
TWINS = [
    {'p': f'bees have {n} eyes', 'h': f'{n} eyes', 'wrong': 'the eyes have bees',
     'y': 0, 'y_wrong': 2, 'src': 'turned round'}
    for n in ('five', 'six', 'two')
]  # fmt: skip


def make_base(folder):
    folder.mkdir(parents=True)
    read = ['input_ids', 'attention_mask']
    words = word_tokenizer(BEE_WORDS, model_input_names=read)
    words.save_pretrained(folder)
    in_int8(mpnet(len(words)), folder)
    write_checksums(folder, sorted(p.name for p in folder.iterdir()))
    return str(folder)


@pytest.fixture(scope='module')
def made(tmp_path_factory):
    place = tmp_path_factory.mktemp('models')
    base = make_base(place / 'base')
    model = attach(load_model(base, AutoModelForSequenceClassification), rank=4)
    torch.manual_seed(7)
    for name, term in terms(model).items():
        if name.endswith('lora_b'):
            term.normal_(std=0.4)
    write_adapter(terms(model), base, place / 'adapter')
    return place, model


def asked(folder, engine='ctranslate2'):
    kind = 'float32' if engine == 'ctranslate2' else 'auto'
    settings = {'labels': LABELS, 'max_tokens': 48}
    config = ModelConfig(str(folder))
    model = SequenceNliModel(config, engine=engine, compute_type=kind, **settings)
    return np.array(model.classify(PAIRS))


def test_a_model_reads_with_its_adapter_as_it_did_in_training(made):
    place, model = made
    words = AutoTokenizer.from_pretrained(place / 'base')
    for pair, found in zip(PAIRS, asked(place / 'adapter'), strict=True):
        given = words(*pair, return_tensors='pt')
        expected = model(**given).logits.softmax(-1)[0].detach().numpy()
        assert np.allclose(found, expected, atol=0.05)  # both are rounded
    assert not np.allclose(asked(place / 'adapter'), asked(place / 'base'), atol=0.1)


def test_both_engines_read_the_same(made):
    folder = made[0] / 'adapter'
    assert np.allclose(asked(folder), asked(folder, 'transformers'), atol=1e-4)


def test_a_term_of_nothing_only_rounds(made, tmp_path):
    base = str(made[0] / 'base')
    model = attach(load_model(base, AutoModelForSequenceClassification), rank=2)
    write_adapter(terms(model), base, tmp_path / 'adapter')
    assert np.allclose(asked(tmp_path / 'adapter'), asked(base), atol=0.05)


def test_a_base_that_was_changed_is_refused(made, tmp_path):
    folder = tmp_path / 'adapter'
    folder.mkdir()
    for path in (made[0] / 'adapter').iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    said = json.loads((folder / 'adapter.json').read_text())
    (folder / 'adapter.json').write_text(json.dumps({**said, 'base_sha256': '0'}))
    (folder / 'sha256.json').unlink()
    # By CTranslate2 and by transformers.
    for read in (asked, lambda folder: adapter_base(str(folder))):
        with pytest.raises(ModelError, match='made for another version of .*base'):
            read(folder)


@pytest.mark.parametrize('part', ['layer', 'shape', 'bytes'])
def test_what_does_not_fit_its_base_is_refused(made, tmp_path, part):
    base = str(made[0] / 'base')
    own = dict(terms(made[1]))
    name = next(n for n in own if n.endswith('query.lora_b') or n.endswith('q.lora_b'))
    if part == 'layer':
        own['nowhere.lora_a'], own['nowhere.lora_b'] = (
            torch.ones(2, 9),
            torch.ones(9, 2),
        )
    elif part == 'shape':
        own[name] = own[name][:-2]
    write_adapter(own, base, tmp_path)
    if part == 'bytes':
        path = tmp_path / 'adapter.int8.safetensors'
        path.write_bytes(path.read_bytes()[:-9])
        (tmp_path / 'sha256.json').unlink()
    with pytest.raises(ModelError, match='fit its base|adapter.int8') as error:
        asked(tmp_path)
    assert '\n' not in str(error.value)


def test_only_the_adapter_is_trained(made):
    base = str(made[0] / 'base')
    model = load_model(base, AutoModelForSequenceClassification)
    before = {n: t.clone() for n, t in model.state_dict().items()}
    job = AdapterJob(AutoTokenizer.from_pretrained(base), max_tokens=48, rank=2)
    student = job.student(model, TWINS)
    tensors = job.collate(job.encode(TWINS))
    optimizer = torch.optim.Adam(
        [p for p in student.parameters() if p.requires_grad], 0.02
    )
    losses = []
    for _ in range(12):
        optimizer.zero_grad()
        loss = job.loss(student, tensors)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 2
    after = student.state_dict()
    assert all(torch.equal(tensor, after[name]) for name, tensor in before.items())
    assert all(t.abs().sum() > 0 for t in terms(student).values())
