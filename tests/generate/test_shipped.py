"""The shipped adapter, merged by numpy, is what torch merges."""

import numpy as np
import pytest
from safetensors.numpy import load

from parlai_q2.errors import ModelError
from parlai_q2.models.converted.from_adapter import merged
from parlai_q2.models.converted.from_int8 import read_tensors
from parlai_q2.models.references import resolve


def test_the_merged_weights_are_those_that_torch_merges_but_for_rounding():
    from parlai_q2.models.loading import adapter_base, load_seq2seq

    reference = 'shipped:q2_mini/reply'
    folder, base = resolve(reference), resolve(adapter_base(reference))
    adapter = load((folder / 'adapter.int8.safetensors').read_bytes())
    found = merged(read_tensors(base), adapter)
    model, _ = load_seq2seq(reference)
    for name, expected in list(model.state_dict().items())[5:60:9]:
        if f'{name}.q' not in found:
            continue
        whole = found[f'{name}.q'] * found[f'{name}.s'].astype(np.float32)[:, None]
        step = found[f'{name}.s'].astype(np.float32)[:, None]
        assert (np.abs(whole - expected.numpy()) <= step / 2 + 1e-6).all(), name


def test_an_adapter_of_another_base_is_refused():
    adapter = {
        'nowhere.lora_a.q': np.ones((2, 3), np.int8),
        'nowhere.lora_a.s': np.ones(2, np.float16),
        'nowhere.lora_b.q': np.ones((4, 2), np.int8),
        'nowhere.lora_b.s': np.ones(4, np.float16),
    }
    with pytest.raises(ModelError, match='does not fit'):
        merged({}, adapter)
