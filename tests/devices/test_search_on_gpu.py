"""
Beam search on a GPU: the processor's sequences, in calls that do not grow with what is
searched for.
"""

import copy

import pytest

from parlai_q2.models.engine.t5.beams import BeamSettings
from parlai_q2.models.engine.t5.search import T5Search
from tests.devices.pretend_gpu import pretend_gpu
from tests.models.engine.test_t5_search import (
    END,
    assert_same,
    inputs,
    random_t5,
    searched,
)

SETTINGS = {
    'num_beams': 5,
    'max_new_tokens': 8,
    'no_repeat_ngram_size': 3,
}


def on_gpu(model, prompts, spans_at_once=512, **changed):
    """What a search on the GPU finds, and what it asked of it."""
    settings = BeamSettings(start=0, end=END, **{**SETTINGS, **changed})
    with pretend_gpu() as counted:
        search = T5Search(copy.deepcopy(model).to('cuda:0'))
        counted.calls = counted.waits = 0
        found = search.search(prompts, settings, spans_at_once)
        asked = counted.calls, counted.waits
    return [([f.tokens for f in row], [f.score for f in row]) for row in found], asked


@pytest.mark.parametrize('act', ['gated-gelu', 'relu'])
def test_it_finds_what_the_processor_finds(act):
    model, prompts = random_t5(act=act), inputs(12, longest=60)
    found, _ = on_gpu(model, prompts)
    assert_same(found, searched(model, prompts, **SETTINGS))


def test_its_calls_and_waits_do_not_grow_with_spans_lengths_or_beams():
    model = random_t5()
    # Of many lengths, all below one step of a GPU's padding.
    _, many = on_gpu(model, inputs(80))
    _, few = on_gpu(model, inputs(8))
    _, alike = on_gpu(model, [[*prompt[:1] * 9, END] for prompt in inputs(80)])
    _, narrow = on_gpu(model, inputs(80), num_beams=2)
    for asked, *fewer in zip(many, few, alike, narrow, strict=True):
        assert asked < 1.3 * min(fewer)
    # A row's attention is no call of its own.
    _, wide = on_gpu(model, inputs(80), num_beams=8)
    assert wide[0] < 1.15 * narrow[0]


def test_more_spans_than_have_room_wait_until_all_are_done():
    model, prompts = random_t5(), inputs(80)
    parts = [on_gpu(model, prompts[start : start + 40]) for start in (0, 40)]
    found, asked = on_gpu(model, prompts, 40)
    assert_same(found, [row for part, _ in parts for row in part])
    for together, *alone in zip(asked, *(part for _, part in parts), strict=True):
        assert together < 1.1 * sum(alone)
