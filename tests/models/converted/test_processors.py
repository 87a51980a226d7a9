"""Older processors agree with this one, whose int8 sums are 32 bits wide."""

import json
import os
import platform
import subprocess
import sys
from statistics import fmean

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


def printed(*arguments: str, instructions: str = '') -> list:
    """What Python prints as JSON, with these instructions alone."""
    done = subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, **(told(instructions) if instructions else {})},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def scores(scorer: str, count: int, instructions: str = '') -> list:
    return printed('-c', SCORE, scorer, str(count), instructions=instructions)


@pytest.mark.skipif(platform.machine() != 'x86_64', reason='for x86 processors')
@pytest.mark.parametrize('instructions', SETS)
def test_older_processors_give_nearly_the_same_scores(instructions):
    own, other = scores('consistency', 20), scores('consistency', 20, instructions)
    pairs = list(zip(own, other, strict=True))
    # A label may differ only where the score is at the threshold.
    assert all(a == b or abs(value - 0.5) < 0.05 for (value, a), (_, b) in pairs)
    gaps = [abs(a - b) for (a, _), (b, _) in zip(own, other, strict=True)]
    # Without AVX functions are computed another way.
    assert max(gaps) < (0.05 if instructions == 'GENERIC' else 0.02)
    assert fmean(gaps) < 0.006


@pytest.mark.skipif(platform.machine() != 'x86_64', reason='for x86 processors')
@pytest.mark.parametrize('instructions', SETS)
def test_the_library_adds_right_what_keeps_within_16_bits(instructions):
    sums = printed('-m', 'tests.models.converted.sums', instructions=instructions)
    as_given, kept_within = sums
    assert kept_within == pytest.approx(64 * 127, rel=0.01)
    assert as_given < 0.6 * 64 * 127  # or else there would be nothing to keep within
