"""
The annotated csv files: downloaded, placed by hand, and the published ones.
"""

import errno
import os
import shutil
import threading
import time
from collections import Counter
from pathlib import Path

import pytest
from parlai.core.build_data import DownloadableFile

from parlai_q2.errors import TaskDataError
from parlai_q2.parlai.task_files import fetch_files
from parlai_q2.tasks.q2_wow import build as q2_wow_build
from parlai_q2.tasks.q2_wow.agents import read_part
from tests.tasks.evaluating import messages
from tests.tasks.wow_files import Q2_WOW

TASK = 'parlai_q2.tasks.q2_wow.agents'
REAL = Path(__file__).parents[3] / 'shared' / 'data' / 'dev' / 'q2_wow'


def test_only_the_files_that_are_needed_must_be_there(datapath):
    for name in Q2_WOW:
        if 'memnet' in name or 'cross' in name:
            os.remove(datapath / 'q2_wow' / name)
    assert len(messages(f'{TASK}:DodecaTeacher')) == 4
    assert not (datapath / 'q2_wow' / '.built').exists()


def test_a_complete_set_is_marked_as_built(datapath):
    messages(f'{TASK}:DodecaTeacher')
    version = (datapath / 'q2_wow' / '.built').read_text().split('\n')[1]
    assert version == q2_wow_build.VERSION


def test_a_wrong_file_is_refused_with_its_name_and_the_remedy(datapath):
    path = datapath / 'q2_wow' / 'memnet_consistent.csv'
    path.write_text('another file')
    with pytest.raises(TaskDataError, match='Delete it') as caught:
        messages(TASK)
    assert str(path) in str(caught.value)
    assert path.exists(), 'a file placed by hand is never deleted'


def test_a_failed_download_says_where_to_place_the_file(datapath, monkeypatch):
    folder = datapath / 'q2_wow'
    (folder / 'dodeca_consistent.csv').unlink()
    (folder / 'memnet_consistent.csv').unlink()

    def no_network(self, dpath):
        raise RuntimeError('Connection broken too many times.')

    monkeypatch.setattr(DownloadableFile, 'download_file', no_network)
    with pytest.raises(TaskDataError, match='https://example.invalid/dodeca') as caught:
        messages(TASK)
    names = 'dodeca_consistent.csv, memnet_consistent.csv'
    assert f'place them in {folder}: {names}.' in str(caught.value)


def test_a_broken_download_is_not_left_behind(datapath, monkeypatch):
    path = datapath / 'q2_wow' / 'dodeca_consistent.csv'
    path.unlink()

    def error_page(url, folder, name):
        (Path(folder) / name).write_text('404: Not Found')

    monkeypatch.setattr('parlai.core.build_data.download', error_page)
    with pytest.raises(TaskDataError, match='Could not download'):
        messages(TASK)
    assert not path.exists()


def test_what_is_downloaded_is_read(datapath, monkeypatch):
    asked = []
    for name in Q2_WOW:
        os.remove(datapath / 'q2_wow' / name)

    def download(url, folder, name):
        asked.append(url)
        (Path(folder) / name).write_bytes(Q2_WOW[name])

    monkeypatch.setattr('parlai.core.build_data.download', download)
    assert len(messages(f'{TASK}:CrossAnnotationTeacher')) == 4
    assert len(messages(TASK)) == len(messages(TASK)) == 7
    assert len(asked) == len(set(asked)) == 5


def test_processes_that_want_the_same_file_download_it_once(datapath, monkeypatch):
    asked, begun = [], threading.Event()
    for name in Q2_WOW:
        os.remove(datapath / 'q2_wow' / name)

    def download(url, folder, name):
        asked.append(url)
        with open(Path(folder) / name, 'wb') as stream:
            stream.write(Q2_WOW[name][:10])
            stream.flush()
            begun.set()
            time.sleep(0.3)
            stream.write(Q2_WOW[name][10:])

    monkeypatch.setattr('parlai.core.build_data.download', download)

    def fetch():
        resources = q2_wow_build.RESOURCES[:1]
        opt = {'datapath': str(datapath)}
        return fetch_files(opt, 'q2_wow', '1', resources, [resources[0].file_name])

    first = threading.Thread(target=fetch)
    first.start()
    assert begun.wait(10)
    fetch()
    first.join()
    assert len(asked) == 1


def test_files_placed_where_nothing_can_be_written_are_read(datapath):
    (datapath / 'q2_wow' / 'memnet_consistent.csv').unlink()
    (datapath / 'q2_wow.lock').mkdir()  # root may write everywhere else
    assert len(messages(f'{TASK}:DodecaTeacher')) == 4
    with pytest.raises(TaskDataError, match='Cannot use .*q2_wow.lock'):
        messages(f'{TASK}:MemnetTeacher')


def test_whole_data_placed_where_nothing_can_be_written_are_read(datapath, monkeypatch):
    def refuse(*_):
        raise PermissionError(errno.EACCES, 'Permission denied')

    monkeypatch.setattr('parlai_q2.parlai.task_files.mark_done', refuse)
    assert len(messages(f'{TASK}:DodecaTeacher')) == 4


def test_where_files_cannot_be_locked_they_are_downloaded(datapath, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOLCK, 'No locks available')

    def download(url, folder, name):
        (Path(folder) / name).write_bytes(Q2_WOW[name])

    os.remove(datapath / 'q2_wow' / 'dodeca_inconsistent.csv')
    monkeypatch.setattr('fcntl.flock', refuse)
    monkeypatch.setattr('parlai.core.build_data.download', download)
    assert len(messages(f'{TASK}:DodecaTeacher')) == 4


@pytest.mark.real_data
@pytest.mark.skipif(not REAL.exists(), reason='the published files are not here')
class TestThePublishedFiles:
    @pytest.fixture
    def datapath(self, tmp_path, monkeypatch):
        monkeypatch.setenv('PARLAI_DATAPATH', str(tmp_path))
        (tmp_path / 'q2_wow').mkdir()
        for path in REAL.glob('*.csv'):
            shutil.copy(path, tmp_path / 'q2_wow')
        return tmp_path

    def test_they_have_the_checksums_that_build_expects(self, datapath):
        q2_wow_build.build({'datapath': str(datapath)})
        assert (datapath / 'q2_wow' / '.built').exists()

    def test_there_are_150_responses_of_each_system_and_class(self, datapath):
        turns = read_part({'datapath': str(datapath)})
        counts = Counter((t.more['system'], t.label) for t in turns)
        assert len(counts) == 4 and set(counts.values()) == {150}

    def test_244_contexts_have_exactly_one_inconsistent_response(self, datapath):
        turns = read_part({'datapath': str(datapath)}, ['cross_annotation'])
        pairs = list(zip(turns[::2], turns[1::2]))
        assert len(pairs) == 544
        assert sum(dodeca.label != memnet.label for dodeca, memnet in pairs) == 244
