"""Opposites and siblings by WordNet, and the changes of knowledge that need them."""

from functools import cache

import nltk
import pytest
from nltk.corpus.reader import WordNetCorpusReader
from nltk.corpus.util import LazyCorpusLoader

from parlai_q2.errors import InputError, MissingPackageError
from parlai_q2.perturb import wordnet as module
from parlai_q2.perturb.knowledge import KnowledgeChanges
from parlai_q2.perturb.wordnet import antonyms, siblings

CURIE = 'Marie Curie was born in Warsaw, and she is often called the first.'
PASSAGES = [
    CURIE,
    'Garry Kasparov lives in Zagreb.',
    'He gave his old dog to her.',
    'The big dog sleeps in its house.',
]


@pytest.mark.parametrize(
    'find, word, part, expected',
    [
        (antonyms, 'old', 'ADJ', ['new']),
        (antonyms, 'often', 'ADV', ['rarely']),
        (antonyms, 'start', 'NOUN', ['end']),
        # It is the opposite of another word of the synset, not of this one.
        (antonyms, 'beginning', 'NOUN', []),
        (antonyms, 'old', 'PUNCT', []),
        (siblings, 'dog', 'NOUN', ['fish', 'cat']),
        (siblings, 'hound', 'NOUN', ['fish', 'cat']),
        (siblings, 'city', 'NOUN', []),
        (siblings, 'nothing', 'NOUN', []),
    ],
)
def test_words_that_wordnet_relates(find, word, part, expected):
    assert find(word, part) == expected


@cache
def changes_by(seed):
    """Parsing the passages takes a while."""
    return KnowledgeChanges(PASSAGES, seed)


@pytest.mark.parametrize(
    'passage, kind, changes',
    [
        (
            PASSAGES[0],
            'entity',
            {('Marie Curie', 'Garry Kasparov'), ('Warsaw', 'Zagreb')},
        ),
        (PASSAGES[0], 'pronoun', {('she', 'he')}),
        (PASSAGES[0], 'antonym', {('often', 'rarely')}),
        (PASSAGES[2], 'pronoun', {('He', 'She'), ('her', 'him')}),
        (PASSAGES[2], 'antonym', {('old', 'new')}),
        (PASSAGES[2], 'sibling', {('dog', 'fish'), ('dog', 'cat')}),
        (PASSAGES[3], 'pronoun', {('its', 'their')}),
    ],
)
def test_a_passage_changes_in_one_thing(passage, kind, changes):
    made = set()
    for seed in range(8):
        changed = changes_by(seed).change(passage, kind)
        assert changed.text == passage.replace(changed.before, changed.after, 1)
        made.add((changed.before, changed.after))
    assert made == changes
    # The draw is by passage, kind and seed alone.
    assert changes_by(7).change(passage, kind) == changed


def test_the_same_seed_makes_the_same_changes():
    again = KnowledgeChanges(PASSAGES, 3)
    for passage in PASSAGES:
        for kind in again.kinds:
            expected = changes_by(3).change(passage, kind)
            assert again.change(passage, kind) == expected


def test_what_does_not_apply_changes_nothing():
    changes = changes_by(0)
    assert changes.change(PASSAGES[1], 'antonym') is None
    assert changes.change(PASSAGES[1], 'pronoun') is None
    assert changes.change(PASSAGES[2], 'negation') is None


def test_without_nltk_the_extra_is_named(without_package):
    module.wordnet.cache_clear()
    without_package('nltk')
    with pytest.raises(MissingPackageError, match=r'parlai_q2\[wordnet\]'):
        antonyms('old', 'ADJ')


def test_without_its_files_the_command_is_named(monkeypatch):
    module.wordnet.cache_clear()
    monkeypatch.setattr(nltk.data, 'path', [])
    not_loaded = LazyCorpusLoader('wordnet', WordNetCorpusReader, None)
    monkeypatch.setattr(nltk.corpus, 'wordnet', not_loaded)
    with pytest.raises(InputError, match=r'Run: python -m nltk\.downloader'):
        module.wordnet()
