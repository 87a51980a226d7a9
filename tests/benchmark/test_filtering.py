"""A mutator and the filter go over the same turns."""

import pytest


@pytest.mark.slow
def test_both_ways_of_filtering_are_timed_and_keep_the_same():
    from benchmarks.filtering import describe_filtering, measure_filtering

    found = measure_filtering(1, 'mini')
    assert (found['turns'], found['episodes']) == (107, 32)
    assert found['ratio'] == pytest.approx(found['mutator'][0] / found['filter'][0])
    assert 'q2_filter' in describe_filtering(found)
