"""
The annotated sets, in small, placed by hand.
"""

import pytest
from parlai.core.build_data import DownloadableFile

from parlai_q2.tasks.q2_wow import build as q2_wow_build
from tests.tasks import annotated_sets
from tests.tasks.wow_files import write_q2_wow


@pytest.fixture
def placed(tmp_path, monkeypatch):
    """
    A datapath with the files of all sets.
    """
    datapath = tmp_path / 'data'
    checksums = write_q2_wow(datapath / 'q2_wow')
    resources = [
        DownloadableFile(f'https://example.invalid/{name}', name, sha, zipped=False)
        for name, sha in checksums.items()
    ]
    monkeypatch.setattr(q2_wow_build, 'RESOURCES', resources)
    annotated_sets.place(datapath, monkeypatch)
    return datapath
