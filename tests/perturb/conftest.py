"""WordNet for tests: a small one, in the real one's files."""

import pytest

from tests.wordnet_files import write_wordnet


@pytest.fixture(scope='session')
def wordnet(tmp_path_factory):
    """The small WordNet, read by NLTK for the rest of the run."""
    import nltk

    from parlai_q2.perturb import wordnet as module

    nltk.data.path.insert(0, str(write_wordnet(tmp_path_factory.mktemp('nltk'))))
    return module.wordnet()
