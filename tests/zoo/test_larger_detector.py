"""A detector of another architecture, in several files: MPNet, computing in int8."""

import json

import pytest
import torch
from tokenizers import processors

from parlai_q2 import Example
from parlai_q2.models.int8_weights import further_parts
from parlai_q2.models.nli import SequenceNliModel
from parlai_q2.presets import ModelConfig, Preset
from parlai_q2.scorers.registry import load_scorer
from parlai_q2.zoo.train import weights
from tests.tiny import mpnet, word_tokenizer

LABELS = {'entailment': 0, 'neutral': 1, 'contradiction': 2, 'generic': 3}
WORDS = 'bees have five eyes two wings and they live in hives of wax'.split()
PAIRS = [
    ('bees have five eyes', 'five eyes'),
    ('they live in hives of wax', 'bees have two wings and five eyes'),
    ('bees', 'wax'),
]


def tokenizer():
    """The words, with MPNet's special tokens and inputs: two </s> between the texts."""
    return word_tokenizer(
        WORDS,
        ['<s>', '<pad>', '</s>', '[UNK]', '<mask>'],
        around=processors.RobertaProcessing(('</s>', 2), ('<s>', 0)),
        pad_token='<pad>',
        unk_token='[UNK]',
        cls_token='<s>',
        sep_token='</s>',
        model_input_names=['input_ids', 'attention_mask'],
    )


@pytest.fixture(scope='module')
def model():
    return mpnet(len(tokenizer()), spread=0.02)


@pytest.fixture(scope='module')
def folder(model, tmp_path_factory):
    """The model as it would ship, in several files."""
    place = tmp_path_factory.mktemp('q2_base') / 'detector'
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(weights, 'PART_BYTES', 60_000)
        weights.write_folder(model, tokenizer(), place)
    return place


def detector(folder, compute_type, **options):
    settings = {'labels': LABELS, 'compute_type': compute_type, **options}
    return SequenceNliModel(ModelConfig(str(folder)), **settings)


def test_it_is_written_in_files_of_limited_size_with_checksums(folder):
    first = folder / 'model.int8.safetensors'
    files = [first, *further_parts(first)]
    assert len(files) > 1 and files[1].name == 'model.int8.2.safetensors'
    assert all(path.stat().st_size < 70_000 for path in files)
    listed = json.loads((folder / 'sha256.json').read_text())
    assert {path.name for path in files} <= set(listed)
    assert {path.name for path in folder.iterdir()} == {*listed, 'sha256.json'}


def test_it_computes_what_was_trained_within_the_rounding_of_int8(folder, model):
    exact, fast = (detector(folder, a).classify(PAIRS) for a in ('float32', 'int8'))
    for one, other in zip(exact, fast, strict=True):
        assert one == pytest.approx(other, abs=0.02)
    assert exact != fast  # activations are rounded
    tokens = tokenizer()(*PAIRS[1], return_tensors='pt')
    with torch.no_grad():
        (own,) = model(**tokens).logits.softmax(-1).tolist()
    assert list(exact[1]) == pytest.approx(own, abs=0.01)
    alone = [detector(folder, 'int8', batch_size=1).classify([p])[0] for p in PAIRS]
    assert alone == fast


def test_it_serves_as_a_presets_detector(folder):
    settings = {'labels': LABELS}
    preset = Preset('base', {'detector': ModelConfig(str(folder), None, settings)})
    scorer = load_scorer('grounded_fast', preset)
    (score,) = scorer.score([Example(*PAIRS[0])])
    assert 0 < score.value < 1 and 0 < score.parts['detector'] < 1


def test_what_is_written_again_leaves_no_old_files(model, folder, tmp_path):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(weights, 'PART_BYTES', 60_000)
        weights.write_folder(model, tokenizer(), tmp_path)
    weights.write_folder(model, tokenizer(), tmp_path)
    assert not further_parts(tmp_path / 'model.int8.safetensors')


def test_what_is_measured_is_what_would_ship():
    # One row of 4,097 numbers, the largest 127: the grid's step is 1.
    weight = torch.full((1, 4097), 3.4)
    weight[0, 0] = 127.0
    rounded = weights.as_shipped({'w': weight, 'b': torch.tensor([0.1])})
    assert rounded['w'][0, :2].tolist() == [127.0, 3.0]
    assert rounded['b'].item() == torch.tensor(0.1).half().item()
