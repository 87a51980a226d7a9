"""
Opposites and siblings of words, by WordNet (Miller 1995) as NLTK reads it: the extra
``wordnet``. The data are fetched by NLTK's own command, ``python -m nltk.downloader
wordnet``, or are where ``NLTK_DATA`` says.
"""

from functools import lru_cache
from itertools import chain
from typing import Any

from parlai_q2.errors import InputError
from parlai_q2.packages import import_package

# WordNet's names for spaCy's parts of speech.
PARTS = {'NOUN': 'n', 'VERB': 'v', 'ADJ': 'a', 'ADV': 'r'}
USER = 'WordNet'


@lru_cache(maxsize=1)
def wordnet() -> Any:
    """NLTK's WordNet; a MissingPackageError or InputError if it is not there."""
    import_package('nltk', 'nltk', 'wordnet', USER)
    from nltk.corpus import wordnet as corpus

    try:
        corpus.ensure_loaded()
    except LookupError as e:
        raise InputError(
            'WordNet is not there. Run: python -m nltk.downloader wordnet (or set '
            'NLTK_DATA to a folder that has corpora/wordnet)'
        ) from e
    return corpus


def base_form(word: str, part: str) -> str | None:
    """A word's base form in WordNet; None if it has none."""
    return wordnet().morphy(word, PARTS[part]) if part in PARTS else None


def antonyms(word: str, part: str) -> list[str]:
    """The opposites of a word in its base form, those of frequent senses first."""
    if part not in PARTS:
        return []
    opposites: list[str] = []
    for sense in wordnet().synsets(word, PARTS[part]):
        for lemma in sense.lemmas():
            if lemma.name().lower() == word.lower():
                opposites += [opposite.name() for opposite in lemma.antonyms()]
    return _single(opposites, word)


def siblings(word: str, part: str) -> list[str]:
    """Words that share a hypernym with a word's first sense, without synonyms."""
    if part not in PARTS:
        return []
    senses = wordnet().synsets(word, PARTS[part])
    if not senses:
        return []
    synonyms = chain.from_iterable(sense.lemma_names() for sense in senses)
    excluded = {name.lower() for name in synonyms}
    lemmas: list[str] = []
    for hypernym in senses[0].hypernyms():
        # NLTK returns them in any order.
        for sense in sorted(hypernym.hyponyms(), key=lambda synset: synset.offset()):
            if sense != senses[0]:
                lemmas += sense.lemma_names()
    return [name for name in _single(lemmas, word) if name.lower() not in excluded]


def _single(names: Any, word: str) -> list[str]:
    # Names of several words do not fit where one word was.
    distinct = dict.fromkeys(n for n in names if n.isalpha())
    return [name for name in distinct if name.lower() != word.lower()]
