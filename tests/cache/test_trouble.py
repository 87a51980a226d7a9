"""
Of a file that cannot be used, one warning says so and nothing is lost; one that is not
ours is left alone; and many processes can use one file.
"""

import os
import re
import resource
import shlex
import signal
import sqlite3
import subprocess
import sys
import textwrap
from contextlib import closing
from threading import Thread

import pytest

from parlai_q2.cache import CREATE, VERSION, ScoreCache
from parlai_q2.cli.commands import run_command
from parlai_q2.errors import ConfigError
from parlai_q2.io.files import locked
from parlai_q2.scorers.calibrated import CalibratedCachedScorer
from tests.cache.counting import SIGNATURE, CountingScorer, examples, scores

# SQLite's page.
PAGE = 4096


@pytest.fixture
def path(tmp_path):
    path = tmp_path / 'of Ann' / 'scores.sqlite'
    cache = ScoreCache(path)
    cache.put(SIGNATURE, scores(300))
    cache.close()
    return path


def scored(cache):
    """The scorer with a cache, after it has scored as it does without one."""
    scorer = CalibratedCachedScorer(CountingScorer(), store=cache)
    for _ in range(2):
        assert scorer.score(examples(20)) == CountingScorer().score(examples(20))
    return scorer


def overwrite(start, end=None):
    def harm(path):
        content = bytearray(path.read_bytes())
        content[start:end] = os.urandom(len(content[start:end]))
        path.write_bytes(content)

    return harm


def truncate(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def change(path, statement):
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(statement)


@pytest.mark.parametrize(
    'harm', [truncate, overwrite(0, 16), overwrite(PAGE), overwrite(3 * PAGE)]
)
def test_a_damaged_file_costs_one_warning_until_it_is_cleared(path, harm, caplog):
    harm(path)
    with caplog.at_level('WARNING'):
        scored(ScoreCache(path))
    (warning,) = (record.getMessage() for record in caplog.records)
    assert 'Scoring goes on without it' in warning
    (command,) = re.findall('"parlai_q2 (.*?)"', warning)
    run_command(*shlex.split(command))
    cache = ScoreCache(path)
    assert cache.signatures() == []
    cache.put(SIGNATURE, scores(300))
    assert ScoreCache(path).get(SIGNATURE, scores(300)) == scores(300)


def test_a_damaged_file_is_whole_once_cleared(path):
    # A page that no deletion reads: where all others hang.
    overwrite(PAGE, 2 * PAGE)(path)
    ScoreCache(path).clear()
    ScoreCache(path).put(SIGNATURE, scores(1))
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute('PRAGMA integrity_check').fetchone() == ('ok',)


def test_of_a_damaged_file_not_only_a_part_is_deleted(path):
    overwrite(PAGE)(path)
    harmed = path.read_bytes()
    for arguments in ({'signature': SIGNATURE}, {'unused_for': 0}):
        with pytest.raises(ConfigError, match=r'cannot be used.*--clear all'):
            ScoreCache(path).clear(**arguments)
    assert path.read_bytes() == harmed


def test_scores_of_an_older_version_are_computed_again(path, caplog):
    older = CREATE.replace(f'user_version = {VERSION}', 'user_version = 1')
    change(path, f'{older} CREATE TABLE signatures (id INTEGER); DROP TABLE scores;')
    assert scored(ScoreCache(path)).reuse.hits == 20
    assert caplog.text == ''


def another_programs(path):
    change(path, 'CREATE TABLE bookmarks (url TEXT)')


def of_a_newer_version(path):
    change(path, f'{CREATE} PRAGMA user_version = {VERSION + 1};')


def holding(content):
    return lambda path: path.write_bytes(content)


@pytest.mark.parametrize(
    'make, message',
    [
        (holding(b'notes\n'), 'is not .* score cache.*--cache-file'),
        (holding(b'\0' * 8192), 'is not .* score cache'),
        (holding(b'SQLite'), 'is not .* score cache'),
        (another_programs, 'is not .* score cache'),
        (of_a_newer_version, 'newer version.*update parlai_q2'),
    ],
)
@pytest.mark.parametrize('use', ['get', 'put', 'signatures', 'clear'])
def test_a_file_that_is_not_ours_is_refused(tmp_path, make, message, use, caplog):
    path = tmp_path / 'notes.db'
    make(path)
    content = path.read_bytes()
    arguments = [SIGNATURE, scores(1)] if use in ('get', 'put') else []
    cache = ScoreCache(path)
    for _ in range(2):
        with pytest.raises(ConfigError, match=message):
            getattr(cache, use)(*arguments)
    assert path.read_bytes() == content
    assert caplog.text == ''


def test_a_file_whose_lock_somebody_keeps_is_done_without(path, monkeypatch, caplog):
    monkeypatch.setattr('parlai_q2.cache.BUSY_TIMEOUT', 0.2)
    with locked(path, 0):
        with caplog.at_level('WARNING'):
            scored(ScoreCache(path))
        assert caplog.text.count('scores.sqlite.lock') == 1
        with pytest.raises(ConfigError, match=r'has held .*scores.sqlite.lock'):
            ScoreCache(path).signatures()
    assert ScoreCache(path).get(SIGNATURE, scores(300)) == scores(300)


def test_a_file_deleted_under_it_costs_nothing_but_the_scores(path):
    cache = ScoreCache(path)
    assert cache.get(SIGNATURE, scores(3))
    for name in os.listdir(path.parent):
        (path.parent / name).unlink()
    scored(cache)


def start(code, *arguments, before=()):
    """Start Python code, after another command perhaps."""
    return subprocess.Popen(
        [*before, sys.executable, '-c', textwrap.dedent(code), *map(str, arguments)],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_a_full_disk_costs_one_warning_and_no_score(tmp_path):
    code = """
    import resource, signal, sys
    from parlai_q2.cache import ScoreCache
    from parlai_q2.scorers.calibrated import CalibratedCachedScorer
    from tests.cache.counting import CountingScorer, examples
    cache = ScoreCache(sys.argv[1])
    scorer = CalibratedCachedScorer(CountingScorer(), store=cache)
    scorer.score(examples(20))
    # No file may grow any more: to SQLite, a disk without room.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    size = cache.file_bytes()
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    for start in (1000, 2000, 3000):
        found = scorer.score(examples(900, start))
        assert found == CountingScorer().score(examples(900, start))
    print(scorer.reuse.misses, cache.usable)
    """
    path = tmp_path / 'scores.sqlite'
    output, errors = start(code, path).communicate(timeout=120)
    assert output.split() == ['2720', 'False'], errors
    assert errors.count('goes on without it') == 1
    # What was kept before is whole.
    assert scored(ScoreCache(path)).reuse.hits == 40
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


def test_a_cache_on_a_read_only_mount_is_read_after_one_warning(path):
    # A mount of this process and its children alone, by the user as root there.
    mount = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0"'
    alone = ['unshare', '--map-root-user', '--mount', 'sh', '-c']
    try:
        subprocess.run([*alone, mount, path.parent], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as e:
        pytest.skip(f'a read-only mount cannot be made here: {e}')
    cache = ScoreCache(path)
    scored(cache)
    cache.close()
    before = {p.name: p.read_bytes() for p in path.parent.iterdir()}
    code = """
    import logging, sys
    from parlai_q2.cache import ScoreCache
    from tests.cache.test_trouble import scored
    logging.basicConfig()
    print(scored(ScoreCache(sys.argv[1])).reuse.hits)
    """
    then = [*alone, f'{mount} && ! touch "$0/new" && exec "$@"', path.parent]
    process = start(code, path, before=then)
    output, errors = process.communicate(timeout=120)
    assert (process.returncode, output) == (0, '40\n'), errors
    assert errors.count('cannot be written. Its scores are used') == 1
    assert {p.name: p.read_bytes() for p in path.parent.iterdir()} == before


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
    print(batch, flush=True)
assert cache.usable
"""


def test_what_many_write_at_once_is_all_there(tmp_path):
    path = tmp_path / 'made_by_whoever_is_first' / 'scores.sqlite'
    for process in [start(WRITER, path, 1000 * n) for n in range(3)]:
        errors = process.communicate(timeout=120)[1]
        assert (process.returncode, errors) == (0, '')
    cache = ScoreCache(path)
    assert cache.signatures()[0].rows == 3 * 500
    for n in range(3):
        mine = scores(500, 1000 * n)
        assert cache.get(SIGNATURE, mine) == mine


def test_a_thread_that_opens_it_leaves_the_locks_of_others(path):
    cache = ScoreCache(path)
    cache.put(SIGNATURE, scores(1, 300))
    thread = Thread(target=lambda: cache.get(SIGNATURE, scores(1)))
    thread.start()
    thread.join()
    # A process that closes the file deletes the log of writes unless others hold locks.
    process = start(WRITER, path, 1000)
    assert process.communicate(timeout=120)[1] == ''
    cache.put(SIGNATURE, scores(300, 2000))
    cache.close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute('PRAGMA integrity_check').fetchone() == ('ok',)
    for mine in (scores(301), scores(500, 1000), scores(300, 2000)):
        assert ScoreCache(path).get(SIGNATURE, mine) == mine


def test_kill_9_in_the_middle_of_writing_loses_no_finished_write(tmp_path):
    path = tmp_path / 'scores.sqlite'
    process = start(WRITER.replace('range(20)', 'range(100000)'), path, 0)
    while int(process.stdout.readline()) < 8:
        pass
    os.kill(process.pid, signal.SIGKILL)
    lines = process.communicate(timeout=60)[0].splitlines()
    finished = 25 * (int(lines[-1]) + 1 if lines else 9)
    assert ScoreCache(path).get(SIGNATURE, scores(finished)) == scores(finished)
