"""A mutator and the filter go over the same turns."""

import pytest

from benchmarks import filtering
from tests.filtering.toys import TASK


def test_both_ways_of_filtering_are_timed_and_keep_the_same(monkeypatch):
    monkeypatch.setattr(filtering, 'TASK', TASK)
    report = filtering.measure_filtering(1, 'mini')
    assert (report['turns'], report['episodes']) == (36, 12)
    assert report['ratio'] == pytest.approx(report['mutator'][0] / report['filter'][0])
    assert 'q2_filter' in filtering.describe_filtering(report)
