"""What the figures of a set are where there is nothing to reckon with."""

import numpy as np

from parlai_q2.bootstrap import percentiles
from parlai_q2.evaluate.sets import GROUPS, density_groups
from tests.evaluate.helpers import annotated


def test_responses_of_one_density_stay_together():
    groups, (low, high) = density_groups([annotated(1), annotated(2), annotated(3)])
    assert low == high
    assert [len(groups[group]) for group in GROUPS] == [3, 0, 0]


def test_a_figure_that_no_resample_has_is_its_own_interval():
    assert percentiles(0.5, np.array([np.nan, np.nan])) == (0.5, 0.5, 0.5)
    # What a resample lacks is left out.
    interval = percentiles(0.5, np.array([np.nan, 0.25, 0.25]))
    assert interval == (0.5, 0.25, 0.25)
