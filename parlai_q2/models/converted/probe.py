"""
Whether int8 products are exact on this processor.

Without instructions for int8 dot products (x86 before VNNI), pairs of products are
added in 16 bits, and large sums are cut off. A model of one layer, whose pooling adds
the largest products there are, shows it.
"""

from functools import lru_cache
from typing import Any

import numpy as np

from parlai_q2.models.converted import binary
from parlai_q2.models.converted.folder import MODEL, WORDS
from parlai_q2.models.converted.layout import ADD, ENCODER, RELU, REVISIONS

WIDTH, INNER, LARGEST = 64, 64, 127
CONFIG = b'{"bos_token": "a", "eos_token": "a", "unk_token": "a"}'


@lru_cache(maxsize=1)
def int8_is_exact() -> bool:
    """Whether the sum of :data:`WIDTH` products of the largest numbers is right."""
    import ctranslate2

    files = {MODEL: _model(), WORDS: b'["a", "b"]', 'config.json': CONFIG}
    encoder = ctranslate2.Encoder(
        'probe', 'cpu', compute_type='int8', intra_threads=1, files=files
    )
    pooled = np.array(encoder.forward_batch([[0, 1]] * 32).pooler_output)
    return bool(np.allclose(pooled, WIDTH, rtol=1e-3))


def _model() -> bytes:
    """Hidden states of ones, whatever is read, and pooling by a matrix of ones."""
    zeros = {'self_attention/linear_0': (3 * WIDTH, WIDTH)}
    zeros |= {'self_attention/linear_1': (WIDTH, WIDTH)}
    zeros |= {'ffn/linear_0': (INNER, WIDTH), 'ffn/linear_1': (WIDTH, INNER)}
    arrays: dict[str, Any] = {
        'encoder/num_heads': np.int16(1),
        'encoder/pre_norm': np.int8(0),
        'encoder/activation': np.int8(RELU),
        'encoder/embeddings_merge': np.int8(ADD),
        'encoder/scale_embeddings': np.int8(0),
        'encoder/multi_query_attention': np.int8(0),
        'encoder/embeddings_0/weight': np.zeros((2, WIDTH), np.float32),
        'encoder/position_encodings/encodings': np.zeros((4, WIDTH), np.float32),
        'pooler_dense/weight': np.full((WIDTH, WIDTH), LARGEST, np.int8),
        'pooler_dense/weight_scale': np.full(WIDTH, LARGEST, np.float32),
        'pooler_activation': np.int8(RELU),
    }
    for name, shape in zeros.items():
        place = f'encoder/layer_0/{name}'
        arrays[f'{place}/weight'] = np.zeros(shape, np.int8)
        arrays[f'{place}/weight_scale'] = np.ones(shape[0], np.float32)
    for part in ('self_attention', 'ffn'):
        norm = f'encoder/layer_0/{part}/layer_norm'
        arrays[f'{norm}/gamma'] = np.zeros(WIDTH, np.float32)
        arrays[f'{norm}/beta'] = np.ones(WIDTH, np.float32)
    return binary.write(binary.Model(ENCODER, REVISIONS[ENCODER], arrays))
