"""
Products of int8 matrices: whole numbers come out whole, on every processor.
"""

import json
import os
import platform
import subprocess
import sys

import pytest
import torch

from parlai_q2.models.engine import kernels as int8_products
from parlai_q2.models.engine.int8_linear import Int8Linear
from parlai_q2.models.engine.kernels import (
    EXACT_TERMS,
    exact,
    for_products,
    int8_dots,
    sums,
)

# Runs in a process of its own, since torch looks at the processor once. Rows of one
# sign, in which two products at once leave 16 bits, and random ones.
IN_A_PROCESS = """
import json, torch
from parlai_q2.models.engine.int8_linear import Int8Linear
from parlai_q2.models.engine.kernels import int8_dots

torch.manual_seed(3)
weight = torch.randint(-127, 128, (96, 1536), dtype=torch.int8)
weight[:2] = 127
layer = Int8Linear(weight, torch.rand(96), torch.rand(96))
rows = torch.randn(7, 1536)
rows[0] = 1
print(json.dumps([int8_dots(), layer(rows).flatten().tolist()]))
"""


@pytest.fixture(autouse=True)
def forgotten():
    int8_dots.cache_clear()
    yield
    int8_dots.cache_clear()


def test_the_largest_products_are_looked_at():
    if not int8_dots():
        pytest.skip('this processor has no int8 dot products')
    assert exact(3, 40, 512)


def cut_off(whole, weight):
    """
    What an older processor gives: activations without a sign, two products at a time,
    in 16 bits.
    """
    columns = weight.t().int()
    pairs = ((whole.int()[:, None] + 128) * columns).unflatten(2, (-1, 2)).sum(-1)
    return (pairs.clamp(-(2**15), 2**15 - 1).sum(-1) - 128 * columns.sum(-1)).int()


def test_products_that_are_cut_off_are_noticed_and_not_used(monkeypatch):
    monkeypatch.setattr(torch, '_int_mm', cut_off)
    assert not exact(1, 96, 64) and not int8_dots()
    assert for_products(torch.ones(2, 3, dtype=torch.int8)).dtype == torch.float32


@pytest.mark.parametrize('error', [RuntimeError('no kernel'), AttributeError('gone')])
def test_a_torch_without_int8_products_is_not_asked_for_them(monkeypatch, error):
    def fail(*_):
        raise error

    monkeypatch.setattr(torch, '_int_mm', fail)
    assert not int8_dots()


@pytest.mark.parametrize('machine', ['arm64', 'aarch64'])
def test_other_processors_multiply_in_fp32(monkeypatch, machine):
    monkeypatch.setattr(platform, 'machine', lambda: machine)
    assert not int8_dots()


@pytest.mark.parametrize(
    'terms', [1, 64, EXACT_TERMS, EXACT_TERMS + 1, 3 * EXACT_TERMS + 5]
)
def test_sums_in_fp32_are_those_of_whole_numbers(terms):
    generator = torch.Generator().manual_seed(terms)
    size = (5, terms), (33, terms)
    whole, weight = (
        torch.randint(-127, 128, s, dtype=torch.int8, generator=generator) for s in size
    )
    whole[0], weight[0] = 127, 127  # sums of 127 * 127 * terms
    right = (whole.long() @ weight.long().t()).float()
    assert torch.equal(sums(whole, weight.float()), right)


def test_a_layer_gives_the_same_with_and_without_int8_products(monkeypatch):
    torch.manual_seed(0)
    weight = torch.randint(-127, 128, (40, 1100), dtype=torch.int8)
    scale, rows = torch.rand(40), torch.randn(9, 1100)
    with_dots = Int8Linear(weight, scale)(rows)
    int8_dots.cache_clear()
    monkeypatch.setattr(int8_products, 'exact', lambda *_: False)
    assert torch.equal(Int8Linear(weight, scale)(rows), with_dots)


@pytest.mark.parametrize('processor', ['AVX2', 'AVX512_CORE'])
def test_a_processor_without_int8_dot_products_gives_what_this_one_gives(processor):
    # oneDNN, which torch multiplies with, can be told to do as an older one does.
    def run(**limit):
        done = subprocess.run(
            [sys.executable, '-c', IN_A_PROCESS],
            env={**os.environ, **limit},
            capture_output=True,
            text=True,
            check=True,
        )
        return json.loads(done.stdout)

    (here, expected), (there, found) = run(), run(ONEDNN_MAX_CPU_ISA=processor)
    if not here:
        pytest.skip('this processor has no int8 dot products')
    assert not there
    assert found == expected
