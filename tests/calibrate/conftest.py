"""What the tests of calibration share."""

import pytest

from parlai_q2.calibrate import fit


@pytest.fixture(scope='package', autouse=True)
def few_resamples():
    """An interval of a threshold is as good from fewer resamples, and sooner there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fit, 'ROUNDS', 100)
        yield
