"""What the tests of the tasks share."""

import pytest

from parlai_q2.io.published import PublishedFile
from parlai_q2.tasks.q2_wow import build as q2_wow_build
from tests.tasks import annotated_sets
from tests.tasks.conv_fever_wow import write_wow
from tests.tasks.recording import RecordingScorer
from tests.tasks.wow_files import write_q2_wow


@pytest.fixture
def made():
    """The scorers that were made, in order."""
    RecordingScorer.made.clear()
    return RecordingScorer.made


@pytest.fixture
def datapath(tmp_path, monkeypatch):
    """A datapath in which the files of q2_wow were placed by hand."""
    checksums = write_q2_wow(tmp_path / 'q2_wow')
    files = [
        PublishedFile(f'https://example.invalid/{name}', name, sha)
        for name, sha in checksums.items()
    ]
    monkeypatch.setattr(q2_wow_build, 'FILES', files)
    monkeypatch.setenv('PARLAI_DATAPATH', str(tmp_path))
    return tmp_path


@pytest.fixture(scope='module')
def wow_folder(tmp_path_factory):
    """
    A folder with Wizard of Wikipedia's files, in which each fold of Conv-FEVER is built
    once.
    """
    folder = tmp_path_factory.mktemp('data')
    write_wow(folder)
    return folder


@pytest.fixture
def conv_fever(wow_folder, monkeypatch):
    """The datapath of Conv-FEVER."""
    monkeypatch.setenv('PARLAI_DATAPATH', str(wow_folder))
    return wow_folder


@pytest.fixture
def sets(tmp_path, monkeypatch):
    """
    A datapath in which the files of begin, rome, dialogue_nli and topical_chat_usr were
    placed by hand.
    """
    annotated_sets.place(tmp_path, monkeypatch)
    monkeypatch.setenv('PARLAI_DATAPATH', str(tmp_path))
    return tmp_path
