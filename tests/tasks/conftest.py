"""What the tests of the tasks share."""

import pytest

from tests.tasks import annotated_sets
from tests.tasks.recording import RecordingScorer
from tests.tasks.wow_files import write_wow


@pytest.fixture
def made():
    """The scorers that were made, in order."""
    RecordingScorer.made.clear()
    return RecordingScorer.made


@pytest.fixture(scope='module')
def wow_folder(tmp_path_factory):
    """Wizard of Wikipedia's files, from which Conv-FEVER is built once."""
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
    """A datapath in which the files of all annotated sets were placed by hand."""
    annotated_sets.place(tmp_path)
    annotated_sets.expect(monkeypatch)
    monkeypatch.setenv('PARLAI_DATAPATH', str(tmp_path))
    return tmp_path
