"""The annotated sets, in small, placed by hand."""

import pytest

from parlai_q2.io.published import PublishedFile
from parlai_q2.tasks.q2_wow import build as q2_wow_build
from tests.tasks import annotated_sets
from tests.tasks.wow_files import write_q2_wow


@pytest.fixture
def placed(tmp_path, monkeypatch):
    """A datapath with the files of all sets."""
    datapath = tmp_path / 'data'
    checksums = write_q2_wow(datapath / 'q2_wow')
    files = [
        PublishedFile(f'https://example.invalid/{name}', name, sha)
        for name, sha in checksums.items()
    ]
    monkeypatch.setattr(q2_wow_build, 'FILES', files)
    annotated_sets.place(datapath, monkeypatch)
    return datapath
