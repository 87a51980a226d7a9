"""
A damaged file is set aside, and somebody else's left alone; where nothing can be kept,
one warning says so.
"""

import logging
import os
import resource
import sqlite3
import subprocess
import sys
import textwrap
from contextlib import closing

import pytest

from parlai_q2.cache import ScoreCache
from parlai_q2.cache.sqlite_file import MAGIC, SqliteFile
from parlai_q2.errors import ConfigError
from parlai_q2.scorers.calibrated import ExtendedScorer
from tests.cache.counting import SIGNATURE, CountingScorer, examples, scores

# SQLite's page.
PAGE = 4096


@pytest.fixture
def path(tmp_path):
    path = tmp_path / 'scores.sqlite'
    cache = ScoreCache(path)
    cache.put(SIGNATURE, scores(300))
    cache.file.close()
    return path


def zeroed(path):
    path.write_bytes(MAGIC.ljust(path.stat().st_size, b'\0'))


def truncated(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def change(path, statement):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)


def tables_gone(path):
    change(path, 'DROP TABLE scores')


def older_tables(path):
    tables_gone(path)
    change(path, 'CREATE TABLE scores (pair BLOB)')
    change(path, 'PRAGMA user_version = 0')


@pytest.mark.parametrize('harm', [zeroed, truncated, tables_gone, older_tables])
def test_a_file_that_cannot_be_read_is_set_aside(path, harm, caplog):
    harm(path)
    harmed = path.read_bytes()
    cache = ScoreCache(path)
    # Of half a file, some may be found; nothing false is.
    for pair, score in cache.get(SIGNATURE, scores(300)).items():
        assert score == scores(300)[pair]
    cache.put(SIGNATURE, scores(300))

    assert cache.get(SIGNATURE, scores(300)) == scores(300)
    assert ScoreCache(path).get(SIGNATURE, scores(300)) == scores(300)
    warned = [r.getMessage() for r in caplog.records]
    assert len(warned) == 1
    assert 'renamed to scores.sqlite.damaged' in warned[0]
    aside = path.with_name('scores.sqlite.damaged').read_bytes()
    assert aside == harmed


@pytest.mark.parametrize(
    'content',
    [b'notes\n', b'{"knowledge": "", "response": ""}\n' * 200, b'\0' * 8192, MAGIC[:9]],
)
def test_a_file_that_was_never_a_cache_is_refused(tmp_path, content, caplog):
    path = tmp_path / 'notes.db'
    path.write_bytes(content)
    for use in (
        lambda: ScoreCache(path).get(SIGNATURE, scores(1)),
        lambda: ScoreCache(path).put(SIGNATURE, scores(1)),
        ScoreCache(path).signatures,
        ScoreCache(path).clear,
    ):
        with pytest.raises(
            ConfigError, match=r'notes.db is not .* score cache.*--cache-file'
        ):
            use()
    assert path.read_bytes() == content
    assert not list(tmp_path.glob('*.damaged*'))
    assert caplog.text == ''


def test_damage_that_opening_does_not_meet_is_found_when_it_is_read(path, caplog):
    pages = bytearray(path.read_bytes())
    pages[3 * 4096 :] = os.urandom(len(pages) - 3 * 4096)
    path.write_bytes(pages)
    scorer = ExtendedScorer(CountingScorer(), store=ScoreCache(path))
    assert scorer.score(examples(20)) == CountingScorer().score(examples(20))
    cache = ScoreCache(path)
    cache.put(SIGNATURE, scores(300))
    assert cache.get(SIGNATURE, scores(300)) == scores(300)
    assert any('scores.sqlite.damaged' in r.getMessage() for r in caplog.records)


@pytest.mark.parametrize('use', ['get', 'put', 'signatures', 'clear'])
def test_the_file_of_a_newer_version_is_left_alone(path, use):
    change(path, 'PRAGMA user_version = 2')
    change(path, 'ALTER TABLE scores ADD COLUMN colour TEXT')
    before = path.read_bytes()
    arguments = {'get': [SIGNATURE, scores(1)], 'put': [SIGNATURE, scores(1)]}
    with pytest.raises(ConfigError, match=r'newer version.*update parlai_q2'):
        getattr(ScoreCache(path), use)(*arguments.get(use, []))
    assert path.read_bytes() == before


def test_another_programs_database_is_refused(tmp_path):
    path = tmp_path / 'theirs.sqlite'
    change(path, 'CREATE TABLE bookmarks (url TEXT)')
    with pytest.raises(ConfigError, match='not a score cache'):
        ScoreCache(path).get(SIGNATURE, scores(1))


def test_a_full_disk_costs_one_warning_and_no_score(tmp_path):
    code = """
    import resource, signal, sys
    from parlai_q2.cache import ScoreCache
    from parlai_q2.scorers.calibrated import ExtendedScorer
    from tests.cache.counting import CountingScorer, examples
    cache = ScoreCache(sys.argv[1])
    scorer = ExtendedScorer(CountingScorer(), store=cache)
    scorer.score(examples(20))
    # No file may grow any more: to SQLite, a disk without room.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    size = cache.file_bytes()
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    for start in (1000, 2000, 3000):
        found = scorer.score(examples(900, start))
        assert found == CountingScorer().score(examples(900, start))
    print(scorer.reuse.misses, cache.file.usable)
    """
    path = tmp_path / 'scores.sqlite'
    completed = subprocess.run(
        [sys.executable, '-c', textwrap.dedent(code), str(path)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert completed.stdout.split() == ['2720', 'False'], completed.stderr
    assert completed.stderr.count('goes on without it') == 1
    # What was kept before is whole.
    scorer = ExtendedScorer(CountingScorer(), store=ScoreCache(path))
    scorer.score(examples(20))
    assert scorer.reuse.hits == 20
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


def test_a_file_deleted_under_it_costs_nothing_but_the_scores(path, caplog):
    caplog.set_level(logging.WARNING)
    scorer = ExtendedScorer(CountingScorer(), store=ScoreCache(path))
    scorer.score(examples(3))
    for name in os.listdir(path.parent):
        if name.startswith('scores'):
            (path.parent / name).unlink()
    assert scorer.score(examples(9)) == CountingScorer().score(examples(9))


def test_an_empty_file_that_can_only_be_read_is_passed_over(
    tmp_path, monkeypatch, caplog
):
    empty = tmp_path / 'empty.sqlite'
    empty.touch()
    monkeypatch.setattr(SqliteFile, 'read_only', True)
    assert ScoreCache(empty).get(SIGNATURE, scores(2)) == {}
    assert 'Scoring goes on without it' in caplog.text


READ = """
import logging, sys
from parlai_q2.cache import ScoreCache
from parlai_q2.scorers.calibrated import ExtendedScorer
from tests.cache.counting import SIGNATURE, CountingScorer, examples, scores
logging.basicConfig()
cache = ScoreCache(sys.argv[1])
assert cache.get(SIGNATURE, scores(300)) == scores(300)
assert cache.signatures()[0].rows == 300
scorer = ExtendedScorer(CountingScorer(), store=cache)
for _ in range(2):
    assert scorer.score(examples(4)) == CountingScorer().score(examples(4))
"""


def test_a_cache_on_a_read_only_mount_is_read(path):
    # A mount of this process and its children alone, by the user as root there.
    mount = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0"'
    alone = ['unshare', '--map-root-user', '--mount', 'sh', '-c']
    try:
        subprocess.run([*alone, mount, path.parent], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as e:
        pytest.skip(f'a read-only mount cannot be made here: {e}')
    before = {p.name: p.read_bytes() for p in path.parent.iterdir()}
    completed = subprocess.run(
        [*alone, f'{mount} && ! touch "$0/new" && exec "$1" -c "$2" "$3"']
        + [path.parent, sys.executable, READ, path],
        capture_output=True,
        text=True,
    )
    assert completed.returncode == 0, completed.stderr
    assert completed.stderr.count('can only be read: new scores are not kept') == 1
    assert {p.name: p.read_bytes() for p in path.parent.iterdir()} == before
