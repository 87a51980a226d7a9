"""What is kept is found again, exactly, and nothing else is."""

import os
import pickle
import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest

from parlai_q2.cache import (
    USE_NOTED_EVERY,
    ScoreCache,
    decode,
    default_cache_path,
    encode,
)
from tests.cache.counting import SIGNATURE, score_of, scores

MAX_BYTES = 1024**2


class Clock:
    def __init__(self):
        self.now = 1_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr('parlai_q2.cache.time.time', clock)
    return clock


@pytest.fixture
def cache(tmp_path):
    return ScoreCache(tmp_path / 'scores.sqlite', MAX_BYTES)


def test_another_signature_does_not_find_it(cache):
    cache.put(SIGNATURE, scores(3))
    assert cache.get(SIGNATURE + '|beam:1', scores(3)) == {}


@pytest.mark.parametrize(
    'other',
    [
        (('a',), 'bc'),
        (('',), 'abc'),
        (('abc',), ''),
        (('ab ',), 'c'),
        (('AB',), 'c'),
        (('ab',), 'c\n'),
        (('a', 'b'), 'c'),
    ],
)
def test_where_knowledge_ends_is_part_of_the_key(cache, other):
    cache.put(SIGNATURE, {(('ab',), 'c'): score_of(1.0)})
    assert cache.get(SIGNATURE, [other]) == {}


def test_clearing_by_age_goes_by_last_use(cache, clock):
    cache.put(SIGNATURE, scores(4))
    clock.now += 2 * USE_NOTED_EVERY
    read = list(scores(1))
    assert len(cache.get(SIGNATURE, read)) == 1
    assert cache.clear(unused_for=USE_NOTED_EVERY) == 3
    assert list(cache.get(SIGNATURE, scores(4))) == read


def test_clearing_all_gives_the_disk_its_room_back(cache):
    cache.put(SIGNATURE, scores(1000))
    cache.close()
    full = cache.file_bytes()
    assert cache.clear() == 1000
    cache.close()
    assert cache.file_bytes() < full / 10
    assert cache.signatures() == []


def test_over_its_limit_it_loses_what_was_longest_unused(cache, clock):
    for batch in range(40):
        cache.put(SIGNATURE, scores(50, start=batch * 50))
        clock.now += USE_NOTED_EVERY
        # The first ten are used all the time.
        assert len(cache.get(SIGNATURE, scores(10))) == 10
    remaining = cache.get(SIGNATURE, scores(2000))
    assert 500 < len(remaining) < 1800
    assert set(scores(10)) <= set(remaining)
    # What was evicted is the oldest: from some pair on, all are there.
    rest = [pair in remaining for pair in list(scores(2000))[10:]]
    assert rest == sorted(rest)
    cache.close()
    assert cache.file_bytes() <= MAX_BYTES


def test_threads_share_it(cache):
    def write_and_read(number):
        mine = scores(5, 10 * number)
        cache.put(SIGNATURE, mine)
        return cache.get(SIGNATURE, mine) == mine

    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(write_and_read, range(20)))
    assert cache.signatures()[0].rows == 100


def test_a_thread_opens_the_file_once(cache, monkeypatch):
    opened = []
    connect = sqlite3.connect
    monkeypatch.setattr(
        sqlite3, 'connect', lambda *a, **k: opened.append(a) or connect(*a, **k)
    )
    for _ in range(3):
        cache.put(SIGNATURE, scores(3))
        assert len(cache.get(SIGNATURE, scores(3))) == 3
    assert len(opened) == 1


def test_a_pickled_store_opens_the_file_for_itself(tmp_path):
    cache = ScoreCache(tmp_path / 'scores.db')
    cache.put(SIGNATURE, scores(2))
    assert pickle.loads(pickle.dumps(cache)).get(SIGNATURE, scores(2)) == scores(2)


@pytest.mark.skipif(not hasattr(os, 'fork'), reason='forks')
def test_a_forked_child_opens_the_file_for_itself(cache):
    cache.put(SIGNATURE, scores(5))
    child = os.fork()
    if not child:
        cache.put(SIGNATURE, scores(5, 100))
        os._exit(0 if cache.get(SIGNATURE, scores(5)) == scores(5) else 1)
    cache.put(SIGNATURE, scores(5, 200))
    assert os.waitpid(child, 0)[1] == 0
    for begin in (0, 100, 200):
        assert cache.get(SIGNATURE, scores(5, begin)) == scores(5, begin)


@pytest.mark.parametrize('value', [b'{"val', b'[1]', b'{"colour": "red"}', b'\xff', 7])
def test_what_is_not_a_score_is_not_found(cache, value):
    assert decode(encode(score_of(0.5), SIGNATURE), SIGNATURE) == score_of(0.5)
    assert decode(value, SIGNATURE) is None


def test_where_scores_are_kept_by_default(monkeypatch, tmp_path):
    monkeypatch.setenv('PARLAI_Q2_CACHE', str(tmp_path / 'mine.sqlite'))
    assert default_cache_path() == tmp_path / 'mine.sqlite'
    monkeypatch.delenv('PARLAI_Q2_CACHE')
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))
    assert default_cache_path() == tmp_path / 'parlai_q2' / 'scores.sqlite'
    monkeypatch.setenv('XDG_CACHE_HOME', 'relative')
    monkeypatch.setenv('HOME', str(tmp_path))
    assert default_cache_path() == tmp_path / '.cache' / 'parlai_q2' / 'scores.sqlite'
