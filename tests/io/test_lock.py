"""
Who may write a file, where files can be locked and where they cannot.
"""

import errno
import threading
import time

import pytest

from parlai_q2.io.lock import lock, locked


def test_one_at_a_time_holds_a_file(tmp_path):
    with open(tmp_path / 'file', 'ab') as one, open(tmp_path / 'file', 'ab') as other:
        assert lock(one) and not lock(other)
        one.close()
        assert lock(other)


def test_who_waits_has_it_when_it_is_free(tmp_path):
    path, began = tmp_path / 'file', time.monotonic()
    with open(tmp_path / 'file.lock', 'ab') as held:
        assert lock(held)
        threading.Timer(0.1, held.close).start()
        with locked(path, patience=30):
            assert 0.09 < time.monotonic() - began < 20


def test_who_waited_too_long_is_told_for_what(tmp_path):
    with locked(tmp_path / 'file', 0), pytest.raises(TimeoutError, match='file.lock'):
        locked(tmp_path / 'file', 0.1).__enter__()


def test_where_files_cannot_be_locked_it_is_an_error_if_it_is_needed(
    tmp_path, monkeypatch
):
    def refuse(*_):
        raise OSError(errno.ENOLCK, 'No locks available')

    monkeypatch.setattr('fcntl.flock', refuse)
    with locked(tmp_path / 'file', 0, needed=False):
        pass
    with pytest.raises(OSError, match='No locks'):
        locked(tmp_path / 'file', 0).__enter__()
