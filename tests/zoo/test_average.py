"""The mean of models' weights."""

import pytest
import torch
from transformers import AutoModelForSequenceClassification as Kind

from parlai_q2.errors import ConfigError
from parlai_q2.models.loading import load_model
from parlai_q2.zoo.train.adapted import attach, terms, write_adapter
from parlai_q2.zoo.train.average import averaged, main
from tests.models.converted.test_adapter import make_base

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


def test_the_mean_of_adapters_is_one_adapter(tmp_path):
    base = make_base(tmp_path / 'base')
    plain = load_model(base, Kind).state_dict()
    for seed in (1, 2):
        torch.manual_seed(seed)
        model = attach(load_model(base, Kind), rank=3)
        for term in terms(model).values():
            term.normal_(std=0.4)
        write_adapter(terms(model), base, tmp_path / str(seed))
    seeds = [str(tmp_path / '1'), str(tmp_path / '2')]
    main([base, *seeds, '--share', '0.6', '--outdir', str(tmp_path / 'mean')])
    found, *others = (
        load_model(folder, Kind).state_dict()
        for folder in (str(tmp_path / 'mean'), *seeds)
    )
    name = 'mpnet.encoder.layer.1.intermediate.dense.weight'
    change = sum(other[name] - plain[name] for other in others) / 2
    assert torch.allclose(found[name], plain[name] + 0.6 * change, atol=0.03)
    assert change.abs().max() > 0.3
    with pytest.raises(ConfigError, match='is not the base'):
        main([seeds[0], seeds[1], '--outdir', str(tmp_path / 'none')])
