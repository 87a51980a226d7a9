"""Devices are looked at before models are loaded for them."""

import pytest
import torch

from parlai_q2 import Example, load_scorer
from parlai_q2.errors import ConfigError
from parlai_q2.models import device
from parlai_q2.models.device import check_device


@pytest.mark.parametrize('name', ['gpu0', 'cuda:x', '', 'cuda:0,cuda:1'])
def test_rejects_unknown_devices(name):
    with pytest.raises(ConfigError, match=r'no device. Use cpu or cuda:0'):
        check_device(name)


@pytest.mark.parametrize(
    'gpus, message', [([], 'none'), (['cuda:0', 'cuda:1'], 'cuda:0, cuda:1')]
)
def test_a_gpu_that_is_not_there_is_told_with_those_that_are(
    monkeypatch, gpus, message
):
    monkeypatch.setattr(device, 'gpus', lambda: gpus)
    expected = f"'cuda:2', which is not available.*are seen: {message}."
    with pytest.raises(ConfigError, match=expected):
        check_device('cuda:2')


def test_accepts_available_devices(monkeypatch):
    monkeypatch.setattr(device, 'gpus', lambda: ['cuda:0'])
    for name in ('cpu', 'cuda', 'cuda:0'):
        check_device(name)


@pytest.mark.parametrize('scorer', ['q2', 'consistency', 'nli', 'grounded_fast'])
def test_missing_devices_are_rejected_before_a_model_loads(monkeypatch, scorer):
    monkeypatch.setattr(device, 'gpus', list)
    with pytest.raises(ConfigError, match='no device'):
        load_scorer(scorer, device='gpu0')
    # Where it is made need not be where it scores.
    made = load_scorer(scorer, device=torch.device('cuda'))
    with pytest.raises(ConfigError, match='not available'):
        made.score([Example('Bees have five eyes.', 'They have five eyes.')])
