"""
Where things are kept that can be made again.
"""

import pytest

from parlai_q2.io.cache_folder import cache_folder


@pytest.mark.parametrize(
    'given, expected',
    [
        ('/elsewhere', '/elsewhere/parlai_q2'),
        # Empty and relative values count as unset, as the XDG specification has it.
        ('', '/home/me/.cache/parlai_q2'),
        ('cache', '/home/me/.cache/parlai_q2'),
        (None, '/home/me/.cache/parlai_q2'),
    ],
)
def test_the_cache_folder(monkeypatch, given, expected):
    monkeypatch.setenv('HOME', '/home/me')
    monkeypatch.delenv('XDG_CACHE_HOME', raising=False)
    if given is not None:
        monkeypatch.setenv('XDG_CACHE_HOME', given)
    assert str(cache_folder()) == expected
