"""The output layer for a few rows."""

import copy

import pytest
import torch
from torch import nn

from parlai_q2.agents.hf_seq2seq.modules import FewRowsLinear, quicken_output


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
