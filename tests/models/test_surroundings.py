"""Scores do not depend on what the program around them, or a newer library, has set."""

import json

import torch
from transformers import AutoModelForSequenceClassification

from parlai_q2.models.loading import load_model
from parlai_q2.models.nli import SequenceNliModel
from parlai_q2.presets import ModelConfig
from tests.tiny import tiny_roberta


def test_a_training_loops_autocast_does_not_reach_them(tmp_path):
    labels = {'entailment': 0, 'neutral': 1, 'contradiction': 2}
    config = ModelConfig(tiny_roberta(tmp_path))
    pairs = [('they are in la', 'the band formed in 1983'), ('wow', 'wow')]
    expected = SequenceNliModel(config, labels=labels).classify(pairs)
    with torch.autocast('cpu', dtype=torch.bfloat16):
        assert SequenceNliModel(config, labels=labels).classify(pairs) == expected


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
