"""Scores do not depend on what the program around them, or a newer library, has set."""

import json

import pytest
import torch
from transformers import AutoModelForSequenceClassification, PreTrainedTokenizerFast

from parlai_q2 import Example, load_scorer
from parlai_q2.models.loading import load_model, load_tokenizer
from tests.tiny import tiny_roberta

PAIR = Example(
    'Honeybees do a waggle dance to tell their nestmates where food is.',
    'They dance to tell others where the food is. There are 20,000 kinds of bees.',
)


def values(**options):
    q2, detector = (load_scorer(n, **options) for n in ('q2', 'consistency'))
    return [scorer.score([PAIR])[0].value for scorer in (q2, detector)]


@pytest.fixture(scope='module', params=['mini', 'mini_float32'])
def preset(request):
    return request.param


@pytest.fixture(scope='module')
def expected(preset):
    return values(preset=preset)


def test_a_training_loops_autocast_does_not_reach_them(preset, expected):
    with torch.autocast('cpu', dtype=torch.bfloat16):
        assert values(preset=preset) == expected


def test_another_default_type_does_not_round_what_is_loaded(tmp_path):
    folder = tiny_roberta(tmp_path)
    said = json.loads((tmp_path / 'config.json').read_text())
    for name in ('dtype', 'torch_dtype'):
        said.pop(name, None)
    (tmp_path / 'config.json').write_text(json.dumps(said))
    for reference in (folder, 'shipped:q2_mini/consistency'):
        plain = load_model(reference, AutoModelForSequenceClassification).state_dict()
        torch.set_default_dtype(torch.bfloat16)
        try:
            model = load_model(reference, AutoModelForSequenceClassification)
            assert torch.get_default_dtype() == torch.bfloat16
        finally:
            torch.set_default_dtype(torch.float32)
        for name, weights in model.state_dict().items():
            assert torch.equal(weights, plain[name]), name


def test_a_tokenizer_says_of_which_text_a_token_is(monkeypatch):
    # transformers 5 leaves it out where nobody asks; without it pairs read as one text.
    less = ['input_ids', 'attention_mask']
    monkeypatch.setattr(PreTrainedTokenizerFast, 'model_input_names', less)
    tokenizer = load_tokenizer('shipped:q2_mini/consistency')
    kinds = tokenizer('bees', 'dance')['token_type_ids']
    assert sorted(set(kinds)) == [0, 1]
