"""Several processes on one file: every score arrives, and none is torn."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from parlai_q2.cache import ScoreCache
from parlai_q2.cache.sqlite_file import MAGIC
from tests.cache.counting import SIGNATURE, scores

WRITER = """
import sys
from parlai_q2.cache import ScoreCache
from tests.cache.counting import SIGNATURE, scores
path, start = sys.argv[1], int(sys.argv[2])
cache = ScoreCache(path)
for batch in range(20):
    mine = scores(25, start + 25 * batch)
    cache.put(SIGNATURE, mine)
    assert cache.get(SIGNATURE, mine) == mine
assert cache.file.usable
"""


def start(code, *arguments):
    return subprocess.Popen(
        [sys.executable, '-c', textwrap.dedent(code), *map(str, arguments)],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def wait(processes):
    for process in processes:
        _, errors = process.communicate(timeout=120)
        assert (process.returncode, errors) == (0, ''), errors


def test_what_many_write_at_once_is_all_there(tmp_path):
    path = tmp_path / 'made_by_whoever_is_first' / 'scores.sqlite'
    wait([start(WRITER, path, 1000 * n) for n in range(6)])
    cache = ScoreCache(path)
    assert cache.signatures()[0].rows == 6 * 500
    for n in range(6):
        mine = scores(500, 1000 * n)
        assert cache.get(SIGNATURE, mine) == mine


def test_a_damaged_file_is_set_aside_once_by_many(tmp_path):
    path = tmp_path / 'scores.sqlite'
    path.write_bytes(MAGIC + b'no database at all' * 1000)
    processes = [start(WRITER, path, 1000 * n) for n in range(4)]
    warnings = ''
    for process in processes:
        warnings += process.communicate(timeout=120)[1]
        assert process.returncode == 0, warnings
    assert warnings.count('was renamed') == 1
    assert ScoreCache(path).signatures()[0].rows == 4 * 500


def test_kill_9_in_the_middle_of_writing_loses_no_finished_write(tmp_path):
    path = tmp_path / 'scores.sqlite'
    code = """
    import sys
    from parlai_q2.cache import ScoreCache
    from tests.cache.counting import SIGNATURE, scores
    cache = ScoreCache(sys.argv[1])
    for batch in range(100000):
        cache.put(SIGNATURE, scores(25, 25 * batch))
        print(batch, flush=True)
    """
    process = start(code, path)
    assert process.stdout is not None
    for line in process.stdout:
        if int(line) == 8:
            break
    os.kill(process.pid, signal.SIGKILL)
    last = [line for line in process.stdout.read().splitlines()[-1:]]
    process.wait(timeout=60)
    finished = 25 * (int(last[0]) + 1 if last else 9)
    stored = ScoreCache(path).get(SIGNATURE, scores(finished))
    assert stored == scores(finished)
    assert not path.with_name('scores.sqlite.damaged').exists()


@pytest.mark.skipif(not hasattr(os, 'fork'), reason='forks')
def test_a_forked_child_opens_the_file_for_itself(tmp_path):
    cache = ScoreCache(tmp_path / 'scores.sqlite')
    cache.put(SIGNATURE, scores(5))
    child = os.fork()
    if not child:
        cache.put(SIGNATURE, scores(5, 100))
        os._exit(0 if cache.get(SIGNATURE, scores(5)) == scores(5) else 1)
    cache.put(SIGNATURE, scores(5, 200))
    deadline = time.monotonic() + 60
    assert os.waitpid(child, 0)[1] == 0
    assert time.monotonic() < deadline
    for begin in (0, 100, 200):
        assert cache.get(SIGNATURE, scores(5, begin)) == scores(5, begin)
