"""The mean of models' weights."""

import pytest
import torch

from parlai_q2.errors import ConfigError
from parlai_q2.zoo.train.average import averaged

ONE = {'w': torch.tensor([0.0, 2.0]), 'places': torch.tensor([1, 2])}
OTHER = {'w': torch.tensor([1.0, 4.0]), 'places': torch.tensor([1, 2])}


def test_weights_lie_between_those_of_both():
    found = averaged(ONE, [OTHER], 0.25)
    assert found['w'].tolist() == [0.25, 2.5] and found['places'].tolist() == [1, 2]
    assert averaged(ONE, [OTHER], 1.0)['w'].tolist() == [1, 4]


def test_seeds_count_the_same():
    other = {**OTHER, 'w': torch.tensor([3.0, 0.0])}
    assert averaged(ONE, [OTHER, other], 0.5)['w'].tolist() == [1, 2]


@pytest.mark.parametrize(
    'other, share', [({'w': torch.zeros(3)}, 0.5), ({}, 0.5), (OTHER, 1.5)]
)
def test_models_that_cannot_be_averaged_are_refused(other, share):
    with pytest.raises(ConfigError):
        averaged(ONE, [OTHER, other], share)
