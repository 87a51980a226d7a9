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
# What CTranslate2 and its oneDNN are told.
SETS = {'AVX2': 'AVX2', 'AVX': 'AVX', 'GENERIC': 'SSE41'}


def scores(scorer: str, count: int, instructions: str = '') -> list:
    told = {}
    if instructions:
        told['CT2_FORCE_CPU_ISA'] = instructions
        told['ONEDNN_MAX_CPU_ISA'] = SETS[instructions]
    done = subprocess.run(
        [sys.executable, '-c', SCORE, scorer, str(count)],
        env={**os.environ, **told},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != 'x86_64', reason='for x86 processors')
def test_older_processors_give_the_same_scores_as_one_another():
    first, *others = (scores('consistency', 20, name) for name in SETS)
    for found in others:
        for (value, label), (own, other) in zip(first, found, strict=True):
            assert label == other
            assert own == pytest.approx(value, abs=1e-4)


@pytest.mark.skipif(platform.machine() != 'x86_64', reason='for x86 processors')
@pytest.mark.parametrize('instructions', SETS)
def test_where_int8_products_are_cut_off_encoders_compute_in_fp32(instructions):
    told = {'ONEDNN_MAX_CPU_ISA': SETS[instructions], 'CT2_FORCE_CPU_ISA': instructions}
    code = 'from parlai_q2 import load_scorer\nprint(load_scorer("q2").signature)\n'
    done = subprocess.run(
        [sys.executable, '-c', code],
        env={**os.environ, **told},
        capture_output=True,
        text=True,
        check=True,
    )
    assert '|qa_engine:ctranslate2-float32|' in done.stdout
    assert '|nli_engine:ctranslate2-float32|' in done.stdout
    assert '|qg_engine:ctranslate2-int8|' in done.stdout
