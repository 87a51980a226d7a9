"""Published files: downloaded and placed by hand."""

import os

import pytest

from parlai_q2.errors import TaskDataError
from parlai_q2.io import data_sets
from parlai_q2.tasks.q2_wow.reader import read_part
from tests.tasks.annotated_sets import Q2_WOW


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


def test_downloaded_files_are_read(sets, monkeypatch):
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
