"""
What the benchmark counts and times, on toys and on products worked out by hand.
"""

import pytest
import torch

from parlai_q2.benchmark import clock as clocks
from parlai_q2.benchmark import describe
from parlai_q2.benchmark.clock import StageClock, spread
from parlai_q2.benchmark.floor import count_operations, measure_floor
from parlai_q2.benchmark.growth import measure_growth
from parlai_q2.benchmark.metric import differences, measure_batched, measure_loop
from parlai_q2.benchmark.stages import ON_KNOWLEDGE, ON_RESPONSES, STAGES, watch
from parlai_q2.models.engine.int8_linear import Int8Linear
from parlai_q2.models.engine.packed import packed
from parlai_q2.q2.metric import Q2Models, q2
from parlai_q2.q2.settings import Q2Settings
from parlai_q2.records import Span
from parlai_q2.scorers.q2 import Q2Scorer
from tests.toys import (
    ToyNliModel,
    ToyQuestionAnswerer,
    ToyQuestionGenerator,
)

PAIRS = [('it was formed in 1983', 'formed in 1983'), ('in la', 'it was in la')]


def years(responses):
    """
    The last word of each response.
    """
    found = []
    for response in responses:
        start = response.rindex(' ') + 1
        found.append([Span(response[start:], start, len(response))])
    return found


def models():
    return Q2Models(ToyQuestionGenerator(), ToyQuestionAnswerer(), ToyNliModel(), years)


def test_watched_models_give_the_same_and_each_stage_has_its_time():
    clock = StageClock()
    watched = watch(models(), clock, PAIRS)
    assert q2(PAIRS, watched, Q2Settings()) == q2(PAIRS, models(), Q2Settings())
    assert set(clock.seconds) == set(STAGES)


def test_answers_in_responses_and_in_knowledge_are_told_apart():
    clock = StageClock()
    answerer = watch(models(), clock, PAIRS).answerer
    answerer.answer([('Which 1983?', PAIRS[0][1])])
    assert set(clock.seconds) == {ON_RESPONSES}
    answerer.answer([('Which 1983?', PAIRS[0][0])])
    assert set(clock.seconds) == {ON_RESPONSES, ON_KNOWLEDGE}


def test_a_scorer_is_timed_in_batches_and_alone():
    found, results = measure_batched(Q2Scorer(models()), PAIRS, rounds=2, alone=1)
    assert found['responses'] == len(results) == 2
    assert found['questions'] == 2
    assert sum(found['stage_share'].values()) == pytest.approx(1, abs=0.01)
    assert 'in batches' in describe.describe_metric(found)


def test_growth_calls_the_scorer_with_more_and_longer_texts():
    calls = []
    pairs = [(f'knowledge {n}', f'response {n}') for n in range(5)]
    found = measure_growth(calls.append, pairs)
    assert list(found['candidates']) == [1, 2, 5]  # no more than there are
    assert {len(call) for call in calls} == {1, 2, 5}
    longest = max((e.knowledge for call in calls for e in call), key=len)
    # Eight times as long: the five, and the first three again.
    assert longest == ' '.join(f'knowledge {n}' for n in (0, 1, 2, 3, 4, 0, 1, 2))
    assert 'candidates of a turn' in describe.describe_growth('toy', found)


@pytest.mark.parametrize('whole', [False, True], ids=['fp32', 'int8'])
def test_operations_are_two_for_each_pair_of_numbers(whole):
    one, other = torch.ones(3, 8), torch.ones(16, 8)
    if whole:
        one, other = one.to(torch.int8), other.to(torch.int8)
    multiply = torch._int_mm if whole else torch.mm
    assert count_operations(lambda: multiply(one, other.t())) == 2 * 3 * 8 * 16


def test_packed_products_count_too():
    layer = Int8Linear(torch.ones(16, 8, dtype=torch.int8), torch.ones(16))
    fast, rows = packed(layer), torch.ones(3, 8)
    assert count_operations(lambda: fast(rows)) == 2 * 3 * 8 * 16


def test_the_floor_is_the_operations_over_the_rate():
    found = measure_floor(lambda: torch.mm(torch.ones(4, 5), torch.ones(5, 6)), False)
    assert found['operations'] == 2 * 4 * 5 * 6
    assert found['seconds'] == pytest.approx(found['operations'] / found['rate'])
    assert 'a response' in describe.describe_floor(found, 1, 1.0)


def test_the_95th_percentile_of_twenty_is_the_nineteenth():
    figures = spread(range(1, 21))
    assert figures['p95'] == 19
    assert (figures['min'], figures['median'], figures['max']) == (1, 10.5, 20)


def test_the_loop_gives_what_the_batch_gives_and_is_told_of_beside_it():
    scorer = Q2Scorer(models())
    found, batch = measure_batched(scorer, PAIRS, rounds=1, alone=1)
    seconds, loop = measure_loop(scorer, PAIRS)
    assert seconds > 0 and differences(batch, loop) == [0, 0]
    found.update(
        loop={'mini': 0.5},
        speed_up={'mini': 12.34},
        largest_difference=max(differences(batch, loop)),
        mean_difference_to_float32=0.0123,
    )
    told = describe.describe_metric(found)
    assert '0.500 s a response (mini, generate): 12.3 times as long' in told
    assert 'largest difference      0.0e+00' in told and 'to fp32 0.012' in told


def test_what_it_was_measured_on_names_what_decides_the_threads(monkeypatch):
    monkeypatch.setenv('OMP_NUM_THREADS', '1')
    monkeypatch.setenv('SOMETHING_ELSE', '1')
    found = clocks.machine()
    assert found['processor'] and found['cores'] >= 1 and found['threads'] >= 1
    assert found['openmp']['OMP_NUM_THREADS'] == '1'
    assert 'SOMETHING_ELSE' not in found['openmp']


def test_a_processor_without_proc_is_named_by_python(monkeypatch):
    def no_such_file(*_, **__):
        raise FileNotFoundError

    monkeypatch.setattr('builtins.open', no_such_file)
    monkeypatch.setattr(clocks.platform, 'processor', lambda: '')
    monkeypatch.setattr(clocks.platform, 'machine', lambda: 'arm64')
    assert clocks.processor() == 'arm64'


@pytest.mark.parametrize(
    'system, peak', [('Linux', 2_500_000), ('Darwin', 2_500_000_000)]
)
def test_memory_is_counted_in_the_units_of_the_system(
    monkeypatch, tmp_path, system, peak
):
    usage = type('Usage', (), {'ru_maxrss': peak})
    monkeypatch.setattr(clocks, 'STATUS', tmp_path / 'none')
    monkeypatch.setattr(clocks.resource, 'getrusage', lambda _: usage)
    monkeypatch.setattr(clocks.platform, 'system', lambda: system)
    assert clocks.peak_memory_mb() == 2500


def test_linux_says_what_this_program_held(monkeypatch, tmp_path):
    status = tmp_path / 'status'
    status.write_text('VmPeak:\t   99 kB\nVmHWM:\t   1500 kB\nVmRSS:\t   7 kB\n')
    monkeypatch.setattr(clocks, 'STATUS', status)
    assert clocks.peak_memory_mb() == 1.5
