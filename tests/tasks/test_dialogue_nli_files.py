"""Dialogue NLI's files: fetched, and broken ones."""

import shutil

import pytest
from parlai.core.build_data import DownloadableFile

from parlai_q2.errors import RecordError, TaskDataError
from parlai_q2.tasks.dialogue_nli.reader import read_file
from tests.tasks.evaluating import messages

TASK = 'parlai_q2.tasks.dialogue_nli.agents'
ANNOTATED = f'{TASK}:AnnotatedTeacher'


@pytest.mark.parametrize(
    'text, problem, number',
    [
        ('[{"label": "positive"', 'cannot be read as JSON', 1),
        ('{"label": "positive"}', 'must hold a list', 1),
        ('[{"label": "positive"}]', r"\(pair 1\) .* KeyError\('sentence2'\)", 1),
        ('[{"label": "maybe"}]', "label 'maybe' is not one of positive", 1),
        ('[1]', r'\(pair 1\) is not a pair', 1),
    ],
)
def test_a_broken_pair_is_named(tmp_path, text, problem, number):
    path = tmp_path / 'pairs.jsonl'
    path.write_text(text)
    with pytest.raises(RecordError, match=problem) as caught:
        read_file(path)
    assert caught.value.line == number


def test_the_archive_is_fetched_by_parlais_own_task(sets, monkeypatch):
    folder = sets / 'dialogue_nli'
    placed = {path.name: path.read_bytes() for path in folder.iterdir()}
    shutil.rmtree(folder)
    urls = []

    def download(file, path):
        urls.append(file.url)
        inner = folder / 'dnli' / 'dialogue_nli'
        inner.mkdir(parents=True)
        for name, data in placed.items():
            (inner / name).write_bytes(data)

    monkeypatch.setattr(DownloadableFile, 'download_file', download)
    for _ in range(2):
        assert len(messages(ANNOTATED, 'test')) == 5
    assert len(urls) == 1
    (folder / 'dnli' / 'dialogue_nli' / 'dialogue_nli_test.jsonl').unlink()
    with pytest.raises(TaskDataError, match=f'unpack it and .*_test.jsonl in {folder}'):
        messages(ANNOTATED, 'test')


def test_a_failed_download_says_what_to_do(sets, monkeypatch):
    def no_network(file, path):
        raise RuntimeError('quota exceeded')

    shutil.rmtree(sets / 'dialogue_nli')
    monkeypatch.setattr(DownloadableFile, 'download_file', no_network)
    with pytest.raises(TaskDataError, match=r'quota exceeded.*dialogue_nli_dev.jsonl'):
        messages(ANNOTATED)
