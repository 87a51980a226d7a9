"""Published files: downloaded, placed by hand, and the real ones of the Q2 paper."""

import os
import shutil
from collections import Counter
from pathlib import Path

import pytest

from parlai_q2.errors import TaskDataError
from parlai_q2.io import data_sets
from parlai_q2.tasks.q2_wow.reader import read_part
from tests.tasks.annotated_sets import Q2_WOW

REAL = Path(__file__).parents[3] / 'shared' / 'data' / 'dev' / 'q2_wow'


def read(sets, *words):
    return read_part(str(sets), words)


def test_a_wrong_file_is_refused_with_its_name_and_the_remedy(sets):
    path = sets / 'q2_wow' / 'memnet_consistent.csv'
    path.write_text('another file')
    with pytest.raises(TaskDataError, match='Delete it') as caught:
        read(sets)
    assert str(path) in str(caught.value)
    assert path.exists(), 'a file placed by hand is never deleted'


def test_a_failed_download_says_where_to_place_the_file(sets, monkeypatch):
    folder = sets / 'q2_wow'
    (folder / 'dodeca_consistent.csv').unlink()
    (folder / 'memnet_consistent.csv').unlink()

    def no_network(url, path):
        raise OSError('Connection broken.')

    monkeypatch.setattr(data_sets, 'download', no_network)
    with pytest.raises(
        TaskDataError, match=r'https://example.invalid/dodeca'
    ) as caught:
        read(sets)
    message = str(caught.value)
    assert 'dodeca_consistent.csv, memnet_consistent.csv' in message
    assert '~/parlai_data/q2_wow, and give --datapath' in message


def test_a_broken_download_is_not_left_behind(sets, monkeypatch):
    path = sets / 'q2_wow' / 'dodeca_consistent.csv'
    path.unlink()

    def error_page(url, path):
        path.write_text('404: Not Found')

    monkeypatch.setattr(data_sets, 'download', error_page)
    with pytest.raises(TaskDataError, match='Could not download'):
        read(sets)
    assert not path.exists()


def test_what_is_downloaded_is_read(sets, monkeypatch):
    urls = []
    for name in Q2_WOW:
        os.remove(sets / 'q2_wow' / name)

    def download(url, path):
        urls.append(url)
        path.write_bytes(Q2_WOW[url.rpartition('/')[2]])

    monkeypatch.setattr(data_sets, 'download', download)
    assert len(read(sets, 'cross_annotation')) == 4
    assert len(read(sets)) == len(read(sets)) == 7
    assert len(urls) == len(set(urls)) == 5


@pytest.mark.real_data
@pytest.mark.skipif(not REAL.exists(), reason='the published files are not here')
class TestThePublishedFiles:
    @pytest.fixture
    def sets(self, tmp_path, monkeypatch):
        monkeypatch.setenv('PARLAI_DATAPATH', str(tmp_path))
        (tmp_path / 'q2_wow').mkdir()
        for path in REAL.glob('*.csv'):
            shutil.copy(path, tmp_path / 'q2_wow')
        return tmp_path

    def test_there_are_150_responses_of_each_system_and_class(self, sets):
        turns = read(sets)
        counts = Counter((t.extra['system'], t.label) for t in turns)
        assert len(counts) == 4
        assert set(counts.values()) == {150}

    def test_244_contexts_have_exactly_one_inconsistent_response(self, sets):
        turns = read(sets, 'cross_annotation')
        pairs = list(zip(turns[::2], turns[1::2]))
        assert len(pairs) == 544
        assert sum(dodeca.label != memnet.label for dodeca, memnet in pairs) == 244
