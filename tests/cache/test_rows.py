"""
What comes back of a row that is not whole, and of a file that others hold or have hurt
while it is open.
"""

import sqlite3

import pytest

from parlai_q2.cache import ScoreCache, sqlite_file
from parlai_q2.cache.rows import checksum_of, decode, encode, pair_key
from parlai_q2.errors import ConfigError
from parlai_q2.io.files import locked
from tests.cache.counting import SIGNATURE, score_of, scores

KEY = pair_key(('knowledge', 'response'))


def read(value, signature=SIGNATURE):
    """What comes back of a value whose checksum is right."""
    return decode(value, checksum_of(value, signature, KEY), signature, KEY)


def test_a_score_comes_back_as_it_was():
    value, checksum = encode(score_of(0.5), SIGNATURE, KEY)
    assert decode(value, checksum, SIGNATURE, KEY) == score_of(0.5)
    # Filed under another recipe, it keeps its own.
    value, checksum = encode(score_of(0.5), 'another', KEY)
    assert decode(value, checksum, 'another', KEY).signature == SIGNATURE


@pytest.mark.parametrize(
    'value', [b'{"colour": "red"}', b'[]', b'null', b'no json', b'\xff', b'']
)
def test_a_value_that_is_no_score_is_none(value):
    assert read(value) is None


@pytest.mark.parametrize(
    'written', ['NaN', '"0.5"', 'null', 'true', 'false', '1e999', '[[1]]']
)
def test_a_value_that_is_no_number_is_none(written):
    value, _ = encode(score_of(0.5), SIGNATURE, KEY)
    assert read(value) is not None
    value = value.replace(b'"score": 0.5', b'"score": ' + written.encode(), 1)
    assert read(value) is None


def test_a_file_whose_lock_somebody_keeps_is_busy(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr('parlai_q2.cache.sqlite_file.BUSY_TIMEOUT', 0.2)
    cache = ScoreCache(tmp_path / 'scores.sqlite')
    with locked(cache.path, 0):
        with caplog.at_level('WARNING'):
            cache.put(SIGNATURE, scores(1))
        assert 'is busy' in caplog.text and 'scores.sqlite.lock' in caplog.text
        with pytest.raises(ConfigError, match='Try again later'):
            cache.signatures()
    # Somebody else's haste ends nothing for good.
    cache.put(SIGNATURE, scores(1))
    assert cache.get(SIGNATURE, scores(1)) == scores(1)


def test_a_value_of_another_pair_or_recipe_is_none():
    value, checksum = encode(score_of(0.5), SIGNATURE, KEY)
    assert decode(value, checksum + 1, SIGNATURE, KEY) is None
    assert decode(value, checksum, 'another', KEY) is None
    assert decode(value, checksum, SIGNATURE, pair_key(('knowledge', 'other'))) is None


@pytest.fixture
def cache(tmp_path):
    cache = ScoreCache(tmp_path / 'scores.sqlite')
    cache.put(SIGNATURE, scores(5))
    return cache


def failing(error, times):
    """Stands for reading: fails so often, and then reads."""
    read, left = sqlite_file.read, [error] * times

    def fail(*arguments):
        if left:
            raise left.pop()
        return read(*arguments)

    return fail


def test_a_file_that_others_hold_for_long_is_gone_without_once(
    cache, monkeypatch, caplog
):
    error = sqlite3.OperationalError('database is locked')
    monkeypatch.setattr(sqlite_file, 'read', failing(error, 1))
    assert cache.get(SIGNATURE, scores(5)) == {}
    assert caplog.text.count('is busy') == 1
    assert cache.usable and cache.get(SIGNATURE, scores(5)) == scores(5)


def test_a_file_that_is_sound_after_all_is_opened_again(cache, monkeypatch, caplog):
    # As when another process has set the damaged file aside meanwhile.
    error = sqlite3.DatabaseError('database disk image is malformed')
    monkeypatch.setattr(sqlite_file, 'read', failing(error, 1))
    assert cache.get(SIGNATURE, scores(5)) == scores(5)
    assert caplog.text == '' and cache.usable
