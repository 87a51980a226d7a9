"""Older processors: what they compute in, and that they agree."""

import json
import os
import platform
import subprocess
import sys

import pytest

SCORE = """
import json, sys
from parlai_q2 import Example, load_scorer
from parlai_q2.scripts.bench import sample
chosen = sample()[: int(sys.argv[2])]
examples = [Example(f['knowledge'], f['response']) for f in chosen]
scores = load_scorer(sys.argv[1]).score(examples)
print(json.dumps([[s.value, s.label] for s in scores]))
"""
# What CTranslate2 is told, and by each what its oneDNN and, on Intel's processors, its
# MKL are told, which else look at the processor themselves.
SETS = {'AVX2': ('AVX2', 'AVX2'), 'AVX': ('AVX', 'AVX'), 'GENERIC': ('SSE41', 'SSE4_2')}


def told(instructions: str) -> dict[str, str]:
    """The environment in which only these instructions are used."""
    onednn, mkl = SETS[instructions]
    return {
        'CT2_FORCE_CPU_ISA': instructions,
        'ONEDNN_MAX_CPU_ISA': onednn,
        'MKL_ENABLE_INSTRUCTIONS': mkl,
    }


def scores(scorer: str, count: int, instructions: str = '') -> list:
    done = subprocess.run(
        [sys.executable, '-c', SCORE, scorer, str(count)],
        env={**os.environ, **(told(instructions) if instructions else {})},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != 'x86_64', reason='for x86 processors')
def test_older_processors_give_the_same_scores_as_one_another():
    first, *others = (scores('consistency', 10, name) for name in SETS)
    for found in others:
        for (value, label), (own, other) in zip(first, found, strict=True):
            assert label == other
            assert own == pytest.approx(value, abs=1e-4)


@pytest.mark.skipif(platform.machine() != 'x86_64', reason='for x86 processors')
@pytest.mark.parametrize('instructions', SETS)
def test_where_int8_products_are_cut_off_encoders_compute_in_fp32(instructions):
    code = 'from parlai_q2 import load_scorer\nprint(load_scorer("q2").signature)\n'
    done = subprocess.run(
        [sys.executable, '-c', code],
        env={**os.environ, **told(instructions)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert '|qa_engine:ctranslate2-float32|' in done.stdout
    assert '|nli_engine:ctranslate2-float32|' in done.stdout
    assert '|qg_engine:ctranslate2-int8|' in done.stdout
