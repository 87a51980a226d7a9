"""The annotated sets, in small, placed by hand."""

import pytest

from tests.tasks import annotated_sets


@pytest.fixture(autouse=True)
def small_figures(monkeypatch):
    """Figures of few pixels, which are quickly written."""
    monkeypatch.setattr('parlai_q2.figures.style.DPI', 30)


@pytest.fixture
def placed(tmp_path, monkeypatch):
    """A datapath with the files of all sets."""
    annotated_sets.place(tmp_path / 'data')
    annotated_sets.expect(monkeypatch)
    return tmp_path / 'data'
