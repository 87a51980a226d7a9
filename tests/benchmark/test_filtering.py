"""A mutator and the filter go over the same turns."""

import pytest


@pytest.mark.slow
def test_both_ways_of_filtering_are_timed_and_keep_the_same():
    from benchmarks.filtering import describe_filtering, measure_filtering

    report = measure_filtering(1, 'mini')
    assert (report['turns'], report['episodes']) == (107, 32)
    assert report['ratio'] == pytest.approx(report['mutator'][0] / report['filter'][0])
    assert 'q2_filter' in describe_filtering(report)
