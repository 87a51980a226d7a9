"""
Packed layers: what the plain layer gives, and only where they can be had.
"""

import pytest
import torch
from torch import nn

from parlai_q2.models.engine import packed as module
from parlai_q2.models.engine.int8_linear import Int8Linear
from parlai_q2.models.engine.kernels import EXACT_TERMS
from parlai_q2.models.engine.packed import (
    FEW_ROWS,
    PackedLinear,
    packed,
    packing_works,
)


@pytest.fixture(autouse=True)
def forgotten():
    packing_works.cache_clear()
    yield
    packing_works.cache_clear()


def layer(out=200, into=64, bias=None):
    generator = torch.Generator().manual_seed(out)
    size = (out, into)
    weight = torch.randint(-127, 128, size, dtype=torch.int8, generator=generator)
    return Int8Linear(weight, torch.rand(out, generator=generator), bias)


needs_packing = pytest.mark.skipif(
    not packing_works(), reason='this processor or this torch has no packed products'
)


@needs_packing
@pytest.mark.parametrize('rows', [1, 2, 5, 20, FEW_ROWS, FEW_ROWS + 1])
@pytest.mark.parametrize('into', [64, 512, EXACT_TERMS])
def test_it_gives_what_the_layer_gives_to_the_last_bit(rows, into):
    plain = layer(into=into)
    fast = packed(plain)
    assert isinstance(fast, PackedLinear)
    x = torch.randn(rows, into, generator=torch.Generator().manual_seed(rows))
    x[0] = 3.5  # all at the largest step, and of one sign
    assert torch.equal(fast(x), plain(x))


@needs_packing
def test_many_rows_are_computed_in_the_room_there_is():
    fast, rows = packed(layer(out=40_000)), FEW_ROWS + 1
    x, room = torch.randn(rows, 64), torch.empty(rows, 40_000)
    assert fast(x, room).data_ptr() == room.data_ptr()


@needs_packing
def test_zeros_stay_zeros():
    assert not packed(layer())(torch.zeros(2, 64)).any()


@pytest.mark.parametrize(
    'other', [nn.Linear(8, 8), layer(bias=torch.ones(200)), layer(into=EXACT_TERMS + 1)]
)
def test_other_layers_stay_as_they_are(other):
    assert packed(other) is other


def test_a_processor_without_int8_products_packs_nothing(monkeypatch):
    monkeypatch.setattr(module, 'int8_dots', lambda: False)
    plain = layer()
    assert packed(plain) is plain


@pytest.mark.parametrize('error', [AttributeError, RuntimeError, TypeError])
def test_a_torch_without_packed_products_packs_nothing(monkeypatch, error):
    def fail(*_):
        raise error('another signature')

    monkeypatch.setattr(PackedLinear, '__init__', fail)
    plain = layer()
    assert packed(plain) is plain


def test_products_that_come_out_wrong_are_not_used(monkeypatch):
    wrong = torch.zeros(module.TRIED[:2])
    monkeypatch.setattr(PackedLinear, '__call__', lambda *_: wrong)
    plain = layer()
    assert packed(plain) is plain
