"""
Kernels: exact ones only, the fastest of them, and the same numbers whichever it is.
"""

import json
import os
import subprocess
import sys
import time

import pytest
import torch

from parlai_q2 import Example, load_scorer
from parlai_q2.errors import ConfigError
from parlai_q2.models.engine import TAKEN, kernels, kernels_taken
from parlai_q2.models.engine.int8_linear import Int8Linear
from parlai_q2.models.engine.kernels import (
    AUTO,
    ENVIRONMENT,
    EXACT_TERMS,
    FLOAT32,
    INT8,
    KERNELS,
    Float32,
    IntMm,
    OneDnnFloat32,
    OneDnnInt8,
    exact,
    extremes,
    fastest,
    given,
    kernel_for,
    limited_to,
)

# Runs in a process of its own, since torch looks at the processor once. Rows of one
# sign, in which two products at once leave 16 bits, and random ones.
IN_A_PROCESS = """
import json, torch
from parlai_q2.models.engine import kernels_taken
from parlai_q2.models.engine.int8_linear import Int8Linear

torch.manual_seed(3)
weight = torch.randint(-127, 128, (96, 1536), dtype=torch.int8)
weight[:2] = 127
layer = Int8Linear(weight, torch.rand(96), torch.rand(96))
rows = torch.randn(7, 1536)
rows[0] = 1
print(json.dumps([kernels_taken(), layer(rows).flatten().tolist(), kernels_taken()]))
"""


@pytest.fixture(autouse=True)
def untried(monkeypatch):
    before = dict(TAKEN)
    TAKEN.clear()
    monkeypatch.delenv(ENVIRONMENT, raising=False)
    yield
    TAKEN.clear()
    TAKEN.update(before)


def layer(out=200, into=64, bias=None):
    generator = torch.Generator().manual_seed(out)
    size = (out, into)
    weight = torch.randint(-127, 128, size, dtype=torch.int8, generator=generator)
    return Int8Linear(weight, torch.rand(out, generator=generator), bias)


def slow(kind, seconds=0.002):
    """The same kernel with a plain loop's time."""

    class Slow(kind):
        calls = 0

        def __call__(self, whole):
            type(self).calls += 1
            time.sleep(seconds)
            return super().__call__(whole)

    return Slow


def cut_off(whole, weight):
    """
    What an older processor gives: activations without a sign, two products at a time,
    in 16 bits.
    """
    columns = weight.t().int()
    pairs = ((whole.int()[:, None] + 128) * columns).unflatten(2, (-1, 2)).sum(-1)
    return (pairs.clamp(-(2**15), 2**15 - 1).sum(-1) - 128 * columns.sum(-1)).int()


@pytest.mark.parametrize('kind', KERNELS)
@pytest.mark.parametrize('rows', [1, 70])
@pytest.mark.parametrize('terms', [1, 64, EXACT_TERMS + 1, 3 * EXACT_TERMS + 5])
def test_sums_are_those_of_whole_numbers(kind, rows, terms):
    if not exact(kind, terms):
        assert kind is not Float32, 'there must always be one'
        pytest.skip('not exact on this processor')
    generator = torch.Generator().manual_seed(terms)
    size = (rows, terms), (33, terms)
    whole, weight = (
        torch.randint(-127, 128, s, dtype=torch.int8, generator=generator) for s in size
    )
    whole[0], weight[0] = 127, 127  # sums of 127 * 127 * terms
    kernel = kind(weight)
    right = (whole.long() @ weight.long().t()).float()
    assert torch.equal(kernel(given(whole, kernel)), right)


def test_a_slow_int8_product_is_refused(monkeypatch):
    # A processor whose int8 products are exact, but a plain loop.
    quick = torch._int_mm

    def loop(*args):
        time.sleep(0.002)
        return quick(*args)

    monkeypatch.setattr(torch, '_int_mm', loop)
    monkeypatch.setattr(kernels, 'KERNELS', (IntMm, slow(OneDnnInt8), Float32))
    x = torch.randn(20, 64)
    expected = layer()(x)
    taken = kernel_for(extremes(200, 64), 20)
    assert isinstance(taken, Float32)
    assert kernels_taken() == {'float32': 1}  # the layer's and this one's, one trial
    with limited_to(INT8):
        assert torch.equal(layer()(x), expected)


def test_one_slow_try_does_not_decide():
    class Interrupted(Float32):
        calls = 0

        def __call__(self, whole):
            type(self).calls += 1
            if type(self).calls == 4:  # the first that is timed, beside other work
                time.sleep(0.06)
            return super().__call__(whole)

    # The other always takes a little longer; being interrupted once is forgiven.
    steady = slow(Float32, 0.04)
    assert fastest([steady, Interrupted], 40, 64, 8) is Interrupted


def test_products_that_are_cut_off_are_noticed_and_not_used(monkeypatch):
    monkeypatch.setattr(torch, '_int_mm', cut_off)
    assert not exact(IntMm, 64)
    assert fastest([IntMm, Float32], 40, 64, 64) is Float32


def test_a_torch_without_a_kernel_is_not_asked_for_it(monkeypatch):
    def fail(*_):
        raise AttributeError('gone')

    monkeypatch.setattr(torch, '_int_mm', fail)
    monkeypatch.setattr(OneDnnInt8, '__init__', fail)
    monkeypatch.setattr(OneDnnFloat32, '__call__', fail)
    assert isinstance(kernel_for(extremes(40, 64), 3), Float32)
    with pytest.raises(ConfigError, match=f'No int8 kernel.*{ENVIRONMENT}'):
        kernel_for(extremes(40, 64), 3, INT8)


def test_the_preset_limits_the_kernels_and_the_environment_comes_first(monkeypatch):
    with limited_to(FLOAT32):
        limited = layer()
    free = layer()
    assert (limited._choice, free._choice) == (FLOAT32, AUTO)
    limited(torch.ones(1, 64))
    assert limited._kernel.arithmetic == FLOAT32
    assert limited.weight is None  # not kept beside the fp32 copy
    assert set(kernels_taken()) <= {'float32', 'onednn_float32'}
    monkeypatch.setenv(ENVIRONMENT, FLOAT32)
    with limited_to(INT8):
        assert layer()._choice == FLOAT32


def test_an_unknown_choice_is_refused(monkeypatch):
    with pytest.raises(ConfigError, match='auto, int8, float32'), limited_to('fast'):
        pass
    monkeypatch.setenv(ENVIRONMENT, 'fast')
    with pytest.raises(ConfigError, match=ENVIRONMENT):
        layer()


def test_a_processor_without_int8_dot_products_gives_what_this_one_gives():
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

    before, expected, _ = run()
    _, found, there = run(ONEDNN_MAX_CPU_ISA='AVX2')
    assert before == {} and found == expected
    assert set(there) <= {'float32', 'onednn_float32'}


def test_a_signature_tells_the_kernels_but_does_not_depend_on_them():
    scorer = load_scorer('consistency')
    before = scorer.signature
    scorer.score([Example('Rome is old.', 'Rome is old.')])
    TAKEN['auto', 1, 1, 8] = 'some_kernel'  # the model may have been used before
    after = scorer.signature
    assert after.details['kernels']['some_kernel'] == 1
    assert str(before) == str(after) and before == after
    assert 'kernel' not in str(after)


def test_scores_are_the_same_in_fp32(tmp_path):
    sections = ('question_generation', 'question_answering', 'nli', 'detector')
    lines = ''.join(f'{s}: {{kernel: float32}}\n' for s in sections)
    path = tmp_path / 'forced.yaml'
    path.write_text(f'name: mini\nbase: mini\n{lines}')
    pair = [Example('Rome was built in 1776 by Bo.', 'Bo built Rome in 1778.')]
    expected = load_scorer('grounded').score(pair)
    TAKEN.clear()
    assert load_scorer('grounded', preset=str(path)).score(pair) == expected
    assert set(kernels_taken()) <= {'float32', 'onednn_float32'} and TAKEN


def test_a_hopeless_kernel_is_tried_little():
    loop = slow(Float32, 0.02)
    assert fastest([Float32, loop], 40, 64, 64) is Float32
    assert loop.calls == 4  # three times to see whether it is exact, once on time
