"""Preparation is measured without the model."""

import pytest

from benchmarks.preparation import main
from parlai_q2.models.converted.engine import ConvertedEncoder
from tests.files import write_lines

RECORDS = [
    {'knowledge': 'Bees have five eyes. They live 6 weeks.', 'response': response}
    for response in ('They live 42 days.', 'Five eyes, I think!', 'Ants have 7 eyes.')
]


def test_every_stage_is_measured_and_no_model_runs(tmp_path, monkeypatch, capsys):
    def fail(*inputs):
        raise AssertionError('the model ran')

    infile = tmp_path / 'pairs.jsonl'
    write_lines(infile, *RECORDS)
    monkeypatch.setattr(ConvertedEncoder, '_run', fail)
    main([str(infile), '--scorer', 'grounded_fast', '--rounds', '1'])
    title, *stages = capsys.readouterr().out.splitlines()
    assert title == f'grounded_fast, {infile}: milliseconds a record'
    times = {stage: float(ms) for stage, ms in map(str.split, stages)}
    assert list(times) == ['read', 'score', 'write', 'all']
    assert times['score'] > 0
    assert sum(times.values()) == pytest.approx(2 * times['all'], abs=0.003)
