"""Linear layers in int8 against values worked out by hand, and against float ones."""

import pytest
import torch
from torch import nn

from parlai_q2.errors import ConfigError
from parlai_q2.models.engine import int8_linear
from parlai_q2.models.engine.batching import length_batches, padded_length
from parlai_q2.models.engine.int8_linear import Int8Linear, SteadyLinear, rounded
from parlai_q2.models.engine.int8_weights import quantise_rows
from parlai_q2.models.loading import effective_arithmetic
from parlai_q2.models.question_generation import Seq2SeqQuestionGenerator
from parlai_q2.presets import ModelConfig
from tests.tiny import tiny_t5


def test_a_product_worked_out_by_hand():
    # Rows 127 and -64 times 0.01; the token's largest number 2.54 makes its step 0.02.
    layer = Int8Linear(
        torch.tensor([[127, 0], [0, -64]], dtype=torch.int8),
        torch.tensor([0.01, 0.01]),
        torch.tensor([1.0, 0.0]),
    )
    x = torch.tensor([[2.54, 1.0]])  # rounds to 127 and 50 steps
    expected = [127 * 127 * 0.02 * 0.01 + 1, -64 * 50 * 0.02 * 0.01]
    assert layer(x)[0].tolist() == pytest.approx(expected, rel=1e-5)


def test_a_row_comes_out_the_same_in_any_company():
    torch.manual_seed(0)
    parts = quantise_rows(torch.randn(40, 32))
    layer = Int8Linear(parts['q'], parts['s'])
    rows = torch.randn(50, 32)
    together = layer(rows)
    for i in (0, 7, 49):
        assert torch.equal(layer(rows[i : i + 1])[0], together[i])


def test_many_rows_are_computed_in_parts_that_nobody_sees(monkeypatch):
    torch.manual_seed(0)
    parts = quantise_rows(torch.randn(40, 32))
    layer = Int8Linear(parts['q'], parts['s'], torch.randn(40))
    rows = torch.randn(50, 32)
    together = layer(rows)
    monkeypatch.setattr(int8_linear, 'NUMBERS_AT_ONCE', 7 * 40)
    assert torch.equal(layer(rows), together)


def test_rounding_is_that_of_torch():
    halves = torch.arange(-254, 255) / 2
    generator = torch.Generator().manual_seed(0)
    others = torch.rand(10_000, generator=generator) * 254 - 127
    numbers = torch.cat([halves, others, torch.tensor([0.0, -0.0, 126.99999])])
    expected = numbers.round().int()
    assert torch.equal(rounded(numbers.clone()), expected.to(torch.int8))
    assert torch.equal(rounded(numbers.clone(), torch.float32), numbers.round())
    unsigned = rounded(numbers.clone(), torch.uint8, 128)
    assert torch.equal(unsigned, (expected + 128).to(torch.uint8))


def test_a_float_layer_gives_each_row_what_it_gives_it_alone():
    torch.manual_seed(0)
    layer, rows = nn.Linear(384, 4), torch.randn(33, 384)
    steady = SteadyLinear(layer.weight, layer.bias)
    together = steady(rows)
    assert torch.equal(together, torch.cat([steady(r[None]) for r in rows]))
    assert torch.allclose(together, layer(rows), atol=1e-5)


def test_a_checkpoint_without_int8_weights_says_so(tmp_path):
    generator = Seq2SeqQuestionGenerator(
        ModelConfig(tiny_t5(tmp_path)), arithmetic='int8'
    )
    with pytest.raises(ConfigError, match='arithmetic: float32'):
        generator.generate([('la', 'they are in la')])


@pytest.mark.parametrize(
    'arithmetic, device, expected',
    [
        ('int8', 'cpu', 'int8'),
        ('float32', 'cpu', 'float32'),
        ('int8', 'cuda:0', 'float32'),  # a GPU computes in fp32
    ],
)
def test_what_is_computed_in(arithmetic, device, expected):
    assert effective_arithmetic(arithmetic, device) == expected
    with pytest.raises(ConfigError, match='int4'):
        effective_arithmetic('int4', device)


def test_a_batch_has_inputs_of_one_padded_length():
    lengths = [3, 17, 8, 9, 24, 16, 1]
    batches = length_batches(lengths, 2)
    assert sorted(i for batch in batches for i in batch) == list(range(7))
    assert all(len(b) <= 2 for b in batches)
    for batch in batches:
        assert len({padded_length(lengths[i]) for i in batch}) == 1
    assert padded_length(lengths[batches[0][0]]) == 24  # the longest first
