"""Opposites and siblings by WordNet, and the changes of knowledge that need them."""

import subprocess
import sys

import pytest

from parlai_q2.errors import MissingPackageError
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
    kinds = set()
    for seed in range(8):
        changed = KnowledgeChanges(PASSAGES, seed).change(passage, kind)
        assert changed.text == passage.replace(changed.before, changed.after, 1)
        kinds.add((changed.before, changed.after))
    assert kinds <= changes
    assert len(kinds) == min(len(changes), len(kinds))
    again = KnowledgeChanges(PASSAGES, 3).change(passage, kind)
    assert again == KnowledgeChanges(PASSAGES, 3).change(passage, kind)


def test_what_does_not_apply_changes_nothing():
    changes = KnowledgeChanges(PASSAGES)
    assert changes.change(PASSAGES[1], 'antonym') is None
    assert changes.change(PASSAGES[1], 'pronoun') is None
    assert changes.change(PASSAGES[2], 'negation') is None


def test_without_nltk_the_extra_is_named(without_package):
    module.wordnet.cache_clear()
    without_package('nltk')
    with pytest.raises(MissingPackageError, match=r'parlai_q2\[wordnet\]'):
        antonyms('old', 'ADJ')


def test_without_its_files_the_command_is_named(tmp_path):
    code = (
        'import nltk; nltk.data.path[:] = []\n'
        'from parlai_q2.perturb.wordnet import wordnet\n'
        'wordnet()'
    )
    completed = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True
    )
    assert 'InputError: WordNet is not there. Run: python -m nltk' in completed.stderr
