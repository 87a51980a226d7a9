"""Row-wise int8 files: what is stored, how exact it is, and what a bad file says."""

import pytest
import torch

from parlai_q2.errors import ModelError
from parlai_q2.models.engine.int8_weights import (
    load_int8,
    quantise_rows,
    stored_form,
    write_int8,
)


def test_a_row_is_scaled_by_its_largest_number():
    row = torch.tensor([[0.0, 1.27, -2.54, 0.02]])
    parts = quantise_rows(row)
    assert parts['q'].tolist() == [[0, 64, -127, 1]]  # scale 0.02; 63.5 rounds to even
    assert parts['s'].tolist() == pytest.approx([0.02], rel=1e-3)


def test_a_file_reads_back_within_half_a_step(tmp_path):
    torch.manual_seed(0)
    state = {
        'w': torch.randn(80, 64),
        'bias': torch.randn(80),
        'table': torch.randn(4, 4),
    }
    write_int8(stored_form(state), tmp_path / 'm.safetensors')
    back = load_int8(tmp_path / 'm.safetensors')
    step = state['w'].abs().amax(1, keepdim=True) / 127
    assert back.keys() == state.keys()
    # Half a step of rounding, and what fp16 scales add.
    assert ((back['w'] - state['w']).abs() <= 0.6 * step).all()
    assert torch.allclose(back['bias'], state['bias'], atol=2e-3)
    assert torch.allclose(back['table'], state['table'], atol=2e-3)


def test_rows_of_zeros_and_of_tiny_numbers_survive():
    parts = quantise_rows(torch.stack([torch.zeros(8), torch.full((8,), 1e-6)]))
    back = parts['q'].float() * parts['s'].float()[:, None]
    assert back[0].tolist() == [0] * 8
    assert back[1].tolist() == pytest.approx([1e-6] * 8, rel=1e-2)


@pytest.mark.parametrize('damage', ['missing', 'truncated', 'not safetensors'])
def test_a_bad_file_is_an_error_that_names_it_and_the_remedy(tmp_path, damage):
    path = tmp_path / 'm.safetensors'
    write_int8(stored_form({'w': torch.randn(80, 64)}), path)
    if damage == 'missing':
        path.unlink()
    elif damage == 'truncated':
        path.write_bytes(path.read_bytes()[:-100])
    else:
        path.write_bytes(b'import os')
    with pytest.raises(ModelError, match='m.safetensors.*reinstall'):
        load_int8(path)
