"""Where caches are kept, and who may write a file."""

import errno

import pytest

from parlai_q2.io.files import cache_folder, locked


def test_missing_locks_are_an_error_only_if_needed(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOLCK, 'No locks available')

    monkeypatch.setattr('fcntl.flock', refuse)
    with locked(tmp_path / 'file', 0, needed=False):
        pass
    with pytest.raises(OSError, match='No locks'):
        locked(tmp_path / 'file', 0).__enter__()


@pytest.mark.parametrize(
    'setting, expected',
    [
        ('/elsewhere', '/elsewhere/parlai_q2'),
        # Empty and relative values count as unset, as the XDG specification has it.
        ('', '/home/me/.cache/parlai_q2'),
        ('cache', '/home/me/.cache/parlai_q2'),
        (None, '/home/me/.cache/parlai_q2'),
    ],
)
def test_the_cache_folder(monkeypatch, setting, expected):
    monkeypatch.setenv('HOME', '/home/me')
    monkeypatch.delenv('XDG_CACHE_HOME', raising=False)
    if setting is not None:
        monkeypatch.setenv('XDG_CACHE_HOME', setting)
    assert str(cache_folder()) == expected
