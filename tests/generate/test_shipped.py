"""An adapter of another base is refused."""

import numpy as np
import pytest

from parlai_q2.errors import ModelError
from parlai_q2.models.converted.from_adapter import merged


def test_an_adapter_of_another_base_is_refused():
    adapter = {
        'nowhere.lora_a.q': np.ones((2, 3), np.int8),
        'nowhere.lora_a.s': np.ones(2, np.float16),
        'nowhere.lora_b.q': np.ones((4, 2), np.int8),
        'nowhere.lora_b.s': np.ones(4, np.float16),
    }
    with pytest.raises(ModelError, match='does not fit'):
        merged({}, adapter)
