"""
Detects misspelt words of the knowledge. "McCandless" for "McCunn" is another name,
which a scorer sees; "Mcunn" it mostly does not, since the pieces that its model reads
are almost the same. Generators misspell names that they have seldom seen, above all
when they sample.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from importlib.resources import files
from os.path import commonprefix

from parlai_q2.rerank.guards.base import Guard, ScoredReply

# Shorter words are similar to too many others.
MIN_LETTERS = 5
# The least similarity of two words, as difflib's ratio measures it: a letter more or
# less in five, two in thirteen. Less is enough if the knowledge's word is no English
# word either, such as a name. Of 12,821 replies of people these mark 338, nearly all of
# them misspelt.
MIN_SIMILARITY, MIN_SIMILARITY_TO_RARE_WORD = 0.85, 0.7

_WORD = re.compile(r'[^\W\d_]+')
# Letters that Unicode does not decompose into a letter and an accent.
_PLAIN_LETTERS = str.maketrans(
    {'ı': 'i', 'ł': 'l', 'ø': 'o', 'đ': 'd', 'ß': 'ss', 'æ': 'ae', 'œ': 'oe'}
)
# Endings that make another form of the same word.
_ENDINGS = re.compile(
    r'(?:s|es|ed|d|ing|ings|r|er|ers|st|est|ly|al|ally|n|an|ian|y|e|ion|ions)?'
)


class MisspellingGuard(Guard):
    """A misspelt word of the knowledge gives way to most consistent replies."""

    name = 'misspelt'
    penalty = 0.3
    message = 'a reply with a misspelt word of the knowledge'

    def detect(self, reply: ScoredReply) -> bool:
        example = reply.example
        return bool(
            find_misspellings(example.response, example.knowledge_text, example.history)
        )


def find_misspellings(
    response: str, knowledge: str, history: Sequence[str] = ()
) -> list[str]:
    """
    The words of a reply that nobody used before, that are no English words, and that
    are nearly a word of the knowledge, in lower case and without accents.

    >>> find_misspellings('It is in Topkap.', 'Topkapi is a palace.')
    ['topkap']
    """
    known_words = _plain_words(knowledge)
    used_words = known_words.union(*map(_plain_words, history))
    new_words = _plain_words(response) - used_words - english_words()
    candidates = (word for word in new_words if len(word) >= MIN_LETTERS)
    return sorted(word for word in candidates if _is_near_any(word, known_words))


def _is_near_any(word: str, known_words: Iterable[str]) -> bool:
    return any(_is_misspelling(word, known_word) for known_word in known_words)


@lru_cache(maxsize=1)
def english_words() -> frozenset[str]:
    """Common English words and names in lower case (those of BERT's vocabulary)."""
    path = files('parlai_q2.text').joinpath('english_words.txt')
    return frozenset(path.read_text(encoding='utf-8').split())


def _is_misspelling(word: str, known_word: str) -> bool:
    if word[0] != known_word[0]:
        return False
    is_rare = len(known_word) >= MIN_LETTERS and known_word not in english_words()
    # British and American spellings.
    word, known_word = word.replace('z', 's'), known_word.replace('z', 's')
    shared = len(commonprefix([word, known_word]))  # noqa: RUF071 (no paths)
    if _ENDINGS.fullmatch(word[shared:]) and _ENDINGS.fullmatch(known_word[shared:]):
        return False  # another form of the same word
    similarity = SequenceMatcher(None, word, known_word, autojunk=False).ratio()
    return similarity >= (MIN_SIMILARITY_TO_RARE_WORD if is_rare else MIN_SIMILARITY)


# All candidates of a turn are compared with the same knowledge and history.
@lru_cache(maxsize=256)
def _plain_words(text: str) -> frozenset[str]:
    plain = unicodedata.normalize('NFKD', text).lower().translate(_PLAIN_LETTERS)
    return frozenset(
        _WORD.findall(''.join(c for c in plain if not unicodedata.combining(c)))
    )
