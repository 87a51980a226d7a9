"""Dialogue NLI's files: the archive, the files in it, and broken ones."""

import hashlib
import zipfile

import pytest

from parlai_q2.errors import RecordError, TaskDataError
from parlai_q2.tasks.dialogue_nli import build as dnli_build
from parlai_q2.tasks.dialogue_nli.reader import read_file
from tests.tasks.annotated_sets import DNLI
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


class TestGettingTheFiles:
    @pytest.fixture
    def folder(self, sets, monkeypatch):
        """Only the archive is there, placed by hand."""
        folder = sets / 'dialogue_nli'
        with zipfile.ZipFile(folder / 'dialogue_nli.zip', 'w') as archive:
            # ParlAI unpacks no file whose folder has no entry of its own.
            for inner in ('dnli/', 'dnli/dialogue_nli/'):
                archive.writestr(inner, '')
            for name, data in DNLI.items():
                archive.writestr(f'dnli/dialogue_nli/{name}', data)
                (folder / name).unlink()
        self.expect(folder, monkeypatch)
        return folder

    def expect(self, folder, monkeypatch):
        data = (folder / 'dialogue_nli.zip').read_bytes()
        sha256 = hashlib.sha256(data).hexdigest()
        monkeypatch.setattr(dnli_build, 'SHA256', sha256)

    def test_an_archive_placed_by_hand_is_unpacked_and_kept(self, folder):
        assert len(messages(f'{TASK}:GoldTeacher')) == 3
        assert (folder / 'dialogue_nli.zip').exists()
        # ParlAI's own task finds it in its place then.
        assert (folder / 'dnli' / 'dialogue_nli' / 'dialogue_nli_dev.jsonl').exists()
        assert (folder / '.built').read_text().split('\n')[1] == '1.0'
        assert len(messages('dialogue_nli', 'valid')) == 4

    def test_an_archive_is_downloaded_once(self, folder, monkeypatch):
        archive = folder / 'dialogue_nli.zip'
        data, asked = archive.read_bytes(), []
        archive.unlink()

        def download(url, path):
            asked.append(url)
            archive.write_bytes(data)

        monkeypatch.setattr(
            'parlai.core.build_data.download_from_google_drive', download
        )
        for _ in range(2):
            assert len(messages(ANNOTATED, 'test')) == 5
        assert asked == [dnli_build.ON_GOOGLE]

    def test_another_archive_is_refused_and_kept(self, folder):
        path = folder / 'dialogue_nli.zip'
        path.write_bytes(path.read_bytes() + b'x')
        with pytest.raises(TaskDataError, match='its SHA-256 is not') as caught:
            messages(TASK)
        assert str(path) in str(caught.value) and path.exists()

    def test_a_failed_download_leaves_nothing_and_says_what_to_do(
        self, folder, monkeypatch
    ):
        path = folder / 'dialogue_nli.zip'
        path.unlink()

        def error_page(url, target):
            path.write_text('<html>quota exceeded</html>')
            raise RuntimeError('quota exceeded')

        monkeypatch.setattr(
            'parlai.core.build_data.download_from_google_drive', error_page
        )
        with pytest.raises(TaskDataError, match='dialogue_nli_dev.jsonl') as caught:
            messages(TASK)
        assert f'in {folder}' in str(caught.value) and not path.exists()
