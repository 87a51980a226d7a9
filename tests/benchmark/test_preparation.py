"""Preparation is measured step by step, without the model."""

from benchmarks.preparation import ALL, REST, STEPS, describe, measure
from parlai_q2.benchmark.measuring import StageClock
from parlai_q2.models.converted.engine import ConvertedEncoder
from parlai_q2.scorers import load_scorer
from tests.files import write_lines

RECORDS = [
    {'knowledge': 'Bees have five eyes. They live 6 weeks.', 'response': response}
    for response in ('They live 42 days.', 'Five eyes, I think!', 'Ants have 7 eyes.')
]


def test_every_step_is_measured_and_no_model_runs(tmp_path, monkeypatch):
    def fail(*inputs):
        raise AssertionError('the model ran')

    infile = tmp_path / 'pairs.jsonl'
    write_lines(infile, *RECORDS)
    scorer = load_scorer('grounded_fast')
    monkeypatch.setattr(ConvertedEncoder, '_run', fail)
    steps = measure(scorer, infile, rounds=1)
    assert set(steps) == {*STEPS, REST, ALL}
    assert all(milliseconds > 0 for milliseconds in steps.values())
    table = describe('grounded_fast', infile.name, steps).splitlines()
    assert table[-1].split() == [ALL, f'{steps[ALL]:.3f}']


def test_a_step_inside_another_counts_once():
    clock = StageClock(iter([0.0, 1.0, 3.0, 7.0]).__next__)
    clock.timed('outer', clock.timed('inner', lambda: None))()
    assert clock.seconds == {'inner': 2.0, 'outer': 5.0}
