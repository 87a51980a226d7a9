"""The output layer for a few rows."""

import copy

import pytest
import torch
from torch import nn

from parlai_q2.agents.hf_seq2seq.modules import (
    FEW,
    FewRowsLinear,
    quicken_output,
)


class Model(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def get_output_embeddings(self):
        return self.layer


@pytest.mark.parametrize('bias', [True, False])
@pytest.mark.parametrize('shape', [(1,), (2,), (3, 1), (2, 4), (11,), (3, 5), (0,)])
def test_it_gives_what_a_plain_layer_gives(bias, shape):
    torch.manual_seed(0)
    plain = nn.Linear(16, 50, bias=bias)
    quick = copy.deepcopy(plain)
    quicken_output(Model(quick))
    assert type(quick) is FewRowsLinear
    x = torch.randn(*shape, 16)
    with torch.no_grad():
        torch.testing.assert_close(quick(x), plain(x))


def test_the_other_product_is_taken_for_a_few_rows_without_gradients(monkeypatch):
    layer = FewRowsLinear(4, 6)
    taken = []
    monkeypatch.setattr(
        nn.Linear, 'forward', lambda self, x: taken.append(len(x)) or x.new_zeros(1)
    )
    with torch.no_grad():
        for rows in (1, *FEW, FEW.stop):
            layer(torch.randn(rows, 4))
    assert taken == [1, FEW.stop]
    layer(torch.randn(3, 4))  # with gradients
    layer.double()
    with torch.no_grad():
        layer(torch.randn(5, 4).double())
    assert taken == [1, FEW.stop, 3, 5]
