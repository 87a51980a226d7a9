"""
``parlai_q2 bench``: what it refuses. What it measures is run as the docs tell it.
"""

import pytest

from parlai_q2.__main__ import run
from parlai_q2.errors import InputError, UnknownNameError


def test_an_unknown_part_is_named_with_those_there_are():
    with pytest.raises(UnknownNameError, match='metric'):
        run(['bench', '--parts', 'metrik,loop'])


def test_one_response_is_too_few():
    with pytest.raises(InputError, match='at least two'):
        run(['bench', '--responses', '1'])
