"""METEOR by NLTK and WordNet, against values worked out by hand."""

import pytest

from parlai_q2 import Example, load_scorer
from parlai_q2.perturb import wordnet as module
from tests.wordnet_files import write_wordnet


@pytest.fixture(autouse=True, scope='module')
def words(tmp_path_factory):
    import nltk

    nltk.data.path.insert(0, str(write_wordnet(tmp_path_factory.mktemp('nltk'))))
    return module.wordnet()


def by_hand(matches, response, reference, chunks):
    precision, recall = matches / response, matches / reference
    mean = precision * recall / (0.9 * precision + 0.1 * recall)
    return mean * (1 - 0.5 * (chunks / matches) ** 3)


@pytest.mark.parametrize(
    'knowledge, response, expected, why',
    [
        ('The old dog sleeps.', 'the old dog sleeps', by_hand(4, 4, 4, 1), 'equal'),
        ('The old dog sleeps.', 'the dog', by_hand(2, 2, 4, 2), 'two chunks'),
        ('Dogs sleeping.', 'dog sleeps', by_hand(2, 2, 2, 1), 'the same stems'),
        ('A city dog.', 'a city hound', by_hand(3, 3, 3, 1), 'synonyms'),
        # NLTK looks for synonyms among stems, and the stem of large is larg.
        ('A large dog.', 'a big hound', by_hand(2, 3, 3, 2), 'a synonym that is lost'),
        ('A large dog.', 'seven ships', 0, 'nothing'),
        ('A large dog.', '...', 0, 'no word'),
    ],
)
def test_words_match_if_equal_of_one_stem_or_synonyms(
    knowledge, response, expected, why
):
    (score,) = load_scorer('meteor').score([Example(knowledge, response)])
    assert score.value == pytest.approx(expected), why


def test_the_signature_names_what_decides_the_number():
    signature = str(load_scorer('meteor').signature)
    for part in ('|wordnet:3.0|', '|alpha:0.9|', '|beta:3|', '|gamma:0.5|', 'nltk:'):
        assert part in f'{signature}|'
