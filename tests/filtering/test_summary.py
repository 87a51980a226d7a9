"""The summary counts what was judged."""

import json

import pytest

from parlai_q2.filtering import Policy, judge_episodes
from parlai_q2.filtering.summary import SHOWN, FilterSummary, render
from tests.filtering.toys import FIVE, WordScorer, episode


def summary(*episodes, **choices):
    found = FilterSummary()
    for one in judge_episodes(episodes, WordScorer(), Policy(**choices)):
        found.add(one)
    return found.to_dict(signature='signed')


def test_it_counts_turns_episodes_and_reasons():
    good = episode(('one', 'a', 'a'))
    bad = episode(('one', 'a', 'x'), ('two', 'a', 'y'))
    found = summary(FIVE, good, bad)
    assert (found['turns'], found['kept'], found['dropped']) == (8, 4, 4)
    assert found['kept_share'] == 0.5
    assert found['episodes'] == 3
    assert found['episodes_kept_whole'] == found['episodes_dropped_whole'] == 1
    assert found['reasons'] == {
        'kept': {'above the threshold': 3, 'generic': 1},
        'dropped': {'not above the threshold': 4},
    }
    assert found['labels'] == {'consistent': 3, 'inconsistent': 4, 'generic': 1}


def test_means_and_histogram_leave_out_what_could_not_be_verified():
    found = summary(FIVE)
    # b b 1, x x 0, a x 0.5, c c c 1; hello has no score to average.
    assert found['mean_score'] == pytest.approx(2.5 / 4)
    assert found['mean_score_kept'] == 1.0
    bars = [(bar['kept'], bar['dropped']) for bar in found['histogram']]
    assert bars[0] == (0, 1) and bars[5] == (0, 1) and bars[9] == (2, 0)
    assert sum(map(sum, bars)) == 4
    assert found['histogram'][9]['to'] == 1.0


def test_both_ends_are_shown_in_order():
    turns = [(str(n), ' '.join('a' * 20), ' '.join('a' * n + 'x' * (20 - n)))
             for n in range(1, 20)]  # fmt: skip
    found = summary(episode(*turns))
    most = [entry['text'] for entry in found['most_grounded']]
    least = [entry['text'] for entry in found['least_grounded']]
    assert most == [str(n) for n in range(19, 9, -1)] and len(most) == SHOWN
    assert least == [str(n) for n in range(1, 11)]
    assert found['least_grounded'][0]['kept'] is False


def test_it_is_json_and_reads_well():
    bad = ('one', 'a\nb', 'b\n b'), ('two', 'a', 'x'), ('three', 'a', 'y' * 101)
    found = summary(episode(*bad), episode(('four', 'a', 'a')), unit='episodes')
    assert json.loads(json.dumps(found)) == found
    lines = render(found).splitlines()
    assert lines[0] == (
        'Kept 1 of 4 turns (25.0%) and dropped 3 by signed; 1 of 2 episodes kept '
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
