"""What is kept is found again, exactly, and nothing else is."""

import os
import pickle
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from parlai_q2.cache import ScoreCache, default_cache_path, sqlite_file
from parlai_q2.cache.score_cache import MIN_MAX_BYTES
from parlai_q2.cache.sqlite_file import USE_NOTED_EVERY
from parlai_q2.errors import ConfigError
from tests.cache.counting import SIGNATURE, score_of, scores


class Clock:
    def __init__(self):
        self.now = 1_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def cache(tmp_path, clock):
    return ScoreCache(tmp_path / 'scores.sqlite', MIN_MAX_BYTES, clock)


def test_a_score_comes_back_as_it_was(cache):
    pair = ('It opened in 1969.', 'in 1969 \ud83d\ude00 \ud800')
    cache.put(SIGNATURE, {pair: score_of(0.1 + 0.2)})
    assert cache.get(SIGNATURE, [pair]) == {pair: score_of(0.30000000000000004)}


def test_another_signature_does_not_find_it(cache):
    cache.put(SIGNATURE, scores(3))
    assert cache.get(SIGNATURE + '|beam:1', scores(3)) == {}


@pytest.mark.parametrize(
    'other',
    [('a', 'bc'), ('', 'abc'), ('abc', ''), ('ab ', 'c'), ('AB', 'c'), ('ab', 'c\n')],
)
def test_where_knowledge_ends_is_part_of_the_key(cache, other):
    cache.put(SIGNATURE, {('ab', 'c'): score_of(1.0)})
    assert cache.get(SIGNATURE, [other]) == {}


def test_a_later_score_replaces_an_earlier_one(cache):
    pair = ('k', 'r')
    cache.put(SIGNATURE, {pair: score_of(0.1)})
    cache.put(SIGNATURE, {pair: score_of(0.9)})
    assert cache.get(SIGNATURE, [pair])[pair].value == 0.9
    assert cache.signatures()[0].rows == 1


def test_more_pairs_than_one_query_takes(cache):
    cache.put(SIGNATURE, scores(1300))
    assert cache.get(SIGNATURE, scores(1300)) == scores(1300)


def test_it_says_what_it_holds(cache, clock):
    cache.put('b', scores(2))
    clock.now += 10
    cache.put('a', scores(5))
    found = cache.signatures()
    assert [(s.text, s.rows, s.used) for s in found] == [
        ('a', 5, 1_000_010),
        ('b', 2, 1_000_000),
    ]
    assert cache.file_bytes() >= sum(s.bytes for s in found) > 0


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
    for batch in range(20):
        cache.put(SIGNATURE, scores(200, start=batch * 200))
        clock.now += USE_NOTED_EVERY
        # The first ten are used all the time.
        assert len(cache.get(SIGNATURE, scores(10))) == 10
    kept = cache.get(SIGNATURE, scores(4000))
    assert 500 < len(kept) < 4000
    assert set(scores(10)) <= set(kept)
    # What was evicted is the oldest: from some pair on, all are there.
    rest = [pair in kept for pair in list(scores(4000))[10:]]
    assert rest == sorted(rest)
    cache.close()
    assert cache.file_bytes() <= MIN_MAX_BYTES


def test_what_a_wrong_clock_wrote_does_not_outlive_what_is_used_now(cache, clock):
    clock.now += 10**8
    for batch in range(20):
        cache.put(SIGNATURE, scores(200, start=batch * 200))
    clock.now -= 10**8
    for batch in range(20, 24):
        cache.put(SIGNATURE, scores(200, start=batch * 200))
        new = scores(200, start=batch * 200)
        assert cache.get(SIGNATURE, new).keys() == new.keys()
        clock.now += 1
    assert cache.clear(unused_for=0) > 0
    assert cache.get(SIGNATURE, scores(4800)) == {}


def test_within_an_hour_too_what_was_longest_unused_goes_first(cache, clock):
    cache.put(SIGNATURE, scores(300))
    clock.now -= 60
    cache.put(SIGNATURE, scores(300, start=300))
    with closing(sqlite3.connect(cache.path)) as connection:
        sqlite_file.evict(
            connection, sqlite_file.used_bytes(connection) / 2, int(clock.now) + 60
        )
        connection.commit()
    kept = cache.get(SIGNATURE, scores(600))
    assert kept and set(kept) <= set(scores(300))


def test_the_time_of_use_is_noted_once_an_hour(cache, clock):
    def used_at(now):
        clock.now = now
        cache.get(SIGNATURE, scores(1))
        return cache.signatures()[0].used

    clock.now = made = 1_000_000
    cache.put(SIGNATURE, scores(1))
    assert used_at(made + 3599) == made
    assert used_at(made + 3600) == made + 3600
    # What will be used in the future was noted by a wrong clock, but for an hour by
    # which clocks may differ.
    assert used_at(made) == made + 3600
    assert used_at(made - 1) == made - 1


def test_threads_share_it_one_at_a_time(cache, monkeypatch):
    cache.put(SIGNATURE, scores(5))
    read, inside, most = sqlite_file.read, [], []

    def slow(*arguments):
        inside.append(1)
        most.append(len(inside))
        time.sleep(0.02)
        inside.pop()
        return read(*arguments)

    monkeypatch.setattr(sqlite_file, 'read', slow)
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: cache.get(SIGNATURE, scores(5)), range(8)))
    assert found == [scores(5)] * 8 and set(most) == {1}


def test_a_pickled_store_opens_the_file_for_itself(tmp_path):
    cache = ScoreCache(tmp_path / 'scores.db')
    cache.put(SIGNATURE, scores(2))
    assert pickle.loads(pickle.dumps(cache)).get(SIGNATURE, scores(2)) == scores(2)


@pytest.mark.parametrize('name', ['pairs.jsonl', 'scores', 'scores.sqlite.part'])
def test_a_file_of_data_is_not_taken_for_a_cache(tmp_path, name):
    with pytest.raises(ConfigError, match='--cache-file scores.sqlite'):
        ScoreCache(tmp_path / name)
    with pytest.raises(ConfigError, match='at least'):
        ScoreCache(tmp_path / 'scores.sqlite', 1000)


def test_where_scores_are_kept_by_default(monkeypatch, tmp_path):
    monkeypatch.setenv('PARLAI_Q2_CACHE', str(tmp_path / 'mine.sqlite'))
    assert default_cache_path() == tmp_path / 'mine.sqlite'
    monkeypatch.delenv('PARLAI_Q2_CACHE')
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))
    assert default_cache_path() == tmp_path / 'parlai_q2' / 'scores.sqlite'
    monkeypatch.setenv('XDG_CACHE_HOME', 'relative')
    monkeypatch.setenv('HOME', str(tmp_path))
    assert default_cache_path() == tmp_path / '.cache' / 'parlai_q2' / 'scores.sqlite'


def test_without_a_home_no_folder_is_named_with_a_tilde(monkeypatch, tmp_path):
    monkeypatch.delenv('PARLAI_Q2_CACHE', raising=False)
    monkeypatch.delenv('XDG_CACHE_HOME', raising=False)
    # What Python gives a user that the system does not know.
    monkeypatch.setattr(os.path, 'expanduser', lambda path: path)
    monkeypatch.chdir(tmp_path)
    assert default_cache_path() == tmp_path / '.cache' / 'parlai_q2' / 'scores.sqlite'
