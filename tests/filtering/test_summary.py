"""The summary counts what was judged."""

import json

import pytest

from parlai_q2.filtering.judge import Policy, judge_episodes
from parlai_q2.filtering.summary import FilterSummary, render
from tests.filtering.toys import FIVE, WordScorer, episode


def summary(*episodes, **choices):
    report = FilterSummary()
    for judged_episode in judge_episodes(episodes, WordScorer(), Policy(**choices)):
        report.add(judged_episode)
    return report.to_dict(signature='signed')


def test_means_and_histogram_leave_out_what_could_not_be_verified():
    report = summary(FIVE)
    # b b 1, x x 0, a x 0.5, c c c 1; hello has no score to average.
    assert report['mean_score'] == pytest.approx(2.5 / 4)
    assert report['mean_score_kept'] == 1.0
    bars = [(bar['kept'], bar['dropped']) for bar in report['histogram']]
    assert bars[0] == (0, 1)
    assert bars[5] == (0, 1)
    assert bars[9] == (2, 0)
    assert sum(map(sum, bars)) == 4
    assert report['histogram'][9]['to'] == 1.0


def test_it_is_json_and_reads_well():
    bad = ('one', 'a\nb', 'b\n b'), ('two', 'a', 'x'), ('three', 'a', 'y' * 101)
    report = summary(episode(*bad), episode(('four', 'a', 'a')), unit='episodes')
    assert json.loads(json.dumps(report)) == report
    lines = render(report).splitlines()
    assert lines[0] == (
        'Kept 1 of 4 turns (25.0 %) and dropped 3 by signed; 1 of 2 episodes kept '
        'whole, 1 dropped whole.'
    )
    assert '  dropped         1  another turn of its episode goes' in lines
    assert '  0.9 to 1.0         2  ' + '#' * 20 + '-' * 20 in lines
    least = lines.index('Least grounded')
    assert lines[least + 3] == f'  0.00 dropped {"y" * 97}...'
    assert lines[least + 5 : least + 7] == [
        '  1.00 dropped b b',
        '       knowledge  a b',
    ]
    assert lines[-1] == 'signature: signed'
