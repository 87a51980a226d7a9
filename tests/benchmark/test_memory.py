"""
What commands hold in memory, measured in processes of their own.
"""

import json

import pytest

from parlai_q2.benchmark.memory import (
    describe,
    peak_of,
    records,
    write_conversations,
)
from parlai_q2.errors import ConfigError, Q2Error, UnknownNameError
from parlai_q2.scripts.bench_scale import BenchScaleScript, sample_pairs, sizes


def texts(count, different):
    return [(r['knowledge'], r['response']) for r in records(count, different)]


def test_records_differ_or_repeat():
    assert len(set(texts(500, None))) == 500
    assert len(set(texts(500, 40))) == 40
    # All are of one length, so that a long file has no longer records than a short one.
    assert len({len(json.dumps(r)) - len(str(r['id'])) for r in records(3, None)}) <= 3


def test_conversations_have_so_many_turns(tmp_path):
    path = write_conversations(tmp_path / 'task.jsonl', records(25, None), turns=10)
    dialogs = [json.loads(line)['dialog'] for line in path.read_text().splitlines()]
    assert [len(dialog) for dialog in dialogs] == [10, 10, 5]
    assert dialogs[2][4][1]['text'] == texts(25, None)[24][1]


@pytest.mark.slow
def test_scoring_holds_as_much_on_a_long_file():
    small, large = (
        peak_of('score --scorer precision', count, None) for count in (500, 8000)
    )
    assert 50 < small
    assert large == pytest.approx(small, rel=0.1)


def test_a_command_that_fails_says_why():
    with pytest.raises(Q2Error, match='There is no scorer'):
        peak_of('score --scorer precison', 5, None)


def test_growth_for_people():
    found = {'score': {'small_mb': 500.0, 'large_mb': 510.0, 'growth': 0.02}}
    assert describe(found).split() == ['score', '500', 'MB', '510', 'MB', '+2.0%']


@pytest.mark.parametrize('given', ['1000', '5,4', '0,5', 'a,b', '1,2,3'])
def test_sizes_are_two_the_smaller_first(given):
    assert sizes('10,20') == (10, 20)
    with pytest.raises(ConfigError, match='--memory'):
        sizes(given)


def test_the_sample_has_ten_thousand_different_pairs():
    pairs = sample_pairs()
    assert len(pairs) == len(set(pairs)) >= 10_000


def test_an_unknown_pipeline_is_named(tmp_path):
    with pytest.raises(UnknownNameError, match='filter'):
        BenchScaleScript.main(pipelines='fliter', outfile=str(tmp_path / 'b.json'))
