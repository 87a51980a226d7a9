"""Older processors agree with this one, whose int8 sums are 32 bits wide."""

import json
import os
import platform
from statistics import fmean

import numpy as np
import pytest

from parlai_q2.models.converted.binary import ENCODER, REVISIONS, Model
from parlai_q2.models.converted.int8 import fit_16_bits
from tests.files import run_python

SCORE = """
import json
from parlai_q2 import Example, load_scorer
from parlai_q2.bench.measuring import sample
examples = [Example(f['knowledge'], f['response']) for f in sample()[:20]]
scores = load_scorer('consistency').score(examples)
print(json.dumps([[s.value, s.label] for s in scores]))
"""
# What CTranslate2 is told, and by each what its oneDNN and, on Intel's processors, its
# MKL are told, which else look at the processor themselves.
SETS = {'AVX2': ('AVX2', 'AVX2'), 'GENERIC': ('SSE41', 'SSE4_2')}


def scores(**instructions: str) -> list:
    """Values and labels by the instructions that the environment allows."""
    completed = run_python(SCORE, env={**os.environ, **instructions})
    return json.loads(completed.stdout)


@pytest.fixture(scope='module')
def native():
    return scores()


@pytest.mark.skipif(platform.machine() != 'x86_64', reason='for x86 processors')
@pytest.mark.parametrize('instructions', SETS)
def test_older_processors_give_nearly_the_same_scores(native, instructions):
    onednn, mkl = SETS[instructions]
    other = scores(
        CT2_FORCE_CPU_ISA=instructions,
        ONEDNN_MAX_CPU_ISA=onednn,
        MKL_ENABLE_INSTRUCTIONS=mkl,
    )
    pairs = list(zip(native, other, strict=True))
    # A label may differ only where the score is at the threshold.
    assert all(a == b or abs(value - 0.5) < 0.05 for (value, a), (_, b) in pairs)
    gaps = [abs(a - b) for (a, _), (b, _) in zip(native, other, strict=True)]
    assert fmean(gaps) < 0.006
    # Activations differ in their last bits, and some are then rounded to another int8.
    # That moves a score far only where the model is unsure.
    is_sure = [not 0.1 < value < 0.9 for value, _ in native]
    assert max(gap for gap, sure in zip(gaps, is_sure) if sure) < 0.01
    assert max(gaps) < (0.02 if instructions == 'AVX2' else 0.05)


def test_rows_are_scaled_to_keep_within_16_bits():
    rows = np.array([[100, 27, -60, -67], [127, 127, 2, 0], [-80, -70, 5, 100]])
    arrays = {
        'pooler_dense/weight': rows.astype(np.int8),
        'pooler_dense/weight_scale': np.full(3, 2.0, np.float32),
        'encoder/embeddings_0/weight': rows.astype(np.int8),
    }
    fitted = fit_16_bits(Model(ENCODER, REVISIONS[ENCODER], arrays))
    # 127 / 254 = 0.5; 127 / 150 = 0.8467: 67.7, 59.3, 4.2, 84.7
    expected = [[100, 27, -60, -67], [64, 64, 1, 0], [-68, -59, 4, 85]]
    assert fitted['pooler_dense/weight'].tolist() == expected
    scales = fitted['pooler_dense/weight_scale']
    np.testing.assert_allclose(scales, [2.0, 1.0, 2 * 127 / 150], rtol=1e-6)
    assert np.array_equal(fitted['encoder/embeddings_0/weight'], rows)  # not multiplied
