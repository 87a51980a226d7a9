"""
Prints the sums of the largest int8 products there are, by the weights as they are
given and by those that keep within 16 bits.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from parlai_q2.models.converted import binary
from parlai_q2.models.converted.binary import ENCODER, REVISIONS
from parlai_q2.models.converted.engine import open_model
from parlai_q2.models.converted.int8 import fit_16_bits
from parlai_q2.models.converted.reader import CONFIG_FILE, VOCABULARY, Converted
from parlai_q2.models.converted.weights import ADD, RELU

WIDTH, LARGEST = 64, 127
SETTINGS = b'{"bos_token": "a", "eos_token": "a", "unk_token": "a"}'


def constant_encoder() -> Converted:
    """Hidden states of ones, whatever is read, and pooling by a matrix of 127."""
    zeros = {'self_attention/linear_0': (3 * WIDTH, WIDTH)}
    zeros |= {'self_attention/linear_1': (WIDTH, WIDTH)}
    zeros |= {'ffn/linear_0': (WIDTH, WIDTH), 'ffn/linear_1': (WIDTH, WIDTH)}
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
        'pooler_dense/weight_scale': np.ones(WIDTH, np.float32),
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
    model = binary.Model(ENCODER, REVISIONS[ENCODER], arrays)
    sidecars = {VOCABULARY: b'["a", "b"]', CONFIG_FILE: SETTINGS}
    return Converted(Path('sums'), {}, model, sidecars, Path('sums'))


def pooled(converted: Converted) -> float:
    encoder = open_model('Encoder', converted, 'cpu', 'int8', 1)
    outputs = np.array(encoder.forward_batch([[0, 1]] * 32).pooler_output)
    return float(outputs.min())


if __name__ == '__main__':
    plain = constant_encoder()
    fitted = replace(plain, model=fit_16_bits(plain.model))
    print(json.dumps([pooled(plain), pooled(fitted)]))
