"""What comes of a row that is not whole, and of a file that others hold or hurt."""

import pytest

from parlai_q2.cache import ScoreCache
from parlai_q2.cache.score_cache import decode, encode, pair_key
from parlai_q2.errors import ConfigError
from parlai_q2.io.files import locked
from tests.cache.counting import SIGNATURE, score_of, scores

KEY = pair_key((('knowledge',), 'response'))


def test_a_file_whose_lock_somebody_keeps_is_busy(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr('parlai_q2.cache.sqlite_file.BUSY_TIMEOUT', 0.2)
    cache = ScoreCache(tmp_path / 'scores.sqlite')
    with locked(cache.path, 0):
        with caplog.at_level('WARNING'):
            cache.put(SIGNATURE, scores(1))
        assert 'is busy' in caplog.text
        assert 'scores.sqlite.lock' in caplog.text
        with pytest.raises(ConfigError, match='Try again later'):
            cache.signatures()
    # Somebody else's haste ends nothing for good.
    cache.put(SIGNATURE, scores(1))
    assert cache.get(SIGNATURE, scores(1)) == scores(1)


def test_a_score_is_read_only_for_its_own_pair_and_recipe():
    value, checksum = encode(score_of(0.5), SIGNATURE, KEY)
    assert decode(value, checksum, SIGNATURE, KEY) == score_of(0.5)
    assert decode(value, checksum + 1, SIGNATURE, KEY) is None
    assert decode(value, checksum, 'another', KEY) is None
    assert (
        decode(value, checksum, SIGNATURE, pair_key((('knowledge',), 'other'))) is None
    )
