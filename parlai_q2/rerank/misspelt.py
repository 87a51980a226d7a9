"""
Finds words of a reply that are misspelt words of its knowledge. "McCandless" for
"McCunn" is another name, which a scorer sees; "Mcunn" it mostly does not, since the
pieces that its model reads are almost the same. Generators misspell names that they
have seldom seen, above all where they sample.
"""

import json
import re
import unicodedata
from difflib import SequenceMatcher
from functools import lru_cache
from os.path import commonprefix
from typing import Sequence

from parlai_q2.models.converted.folder import WORDS
from parlai_q2.models.references import shipped_folder

# Shorter words are like too many others.
LEAST_LETTERS = 5
# How much of two words is in common, as difflib's ratio has it: a letter more or less
# in five, two in thirteen. Less is enough where the knowledge's word is no English word
# either, such as a name. Of 12,821 replies of people these mark 308 and 30 more, nearly
# all of them misspelt.
LIKE, LIKE_RARE = 0.85, 0.7

_WORD = re.compile(r'[^\W\d_]+')
# Letters that are no letter with an accent for Unicode.
_PLAIN = str.maketrans(
    {'ı': 'i', 'ł': 'l', 'ø': 'o', 'đ': 'd', 'ß': 'ss', 'æ': 'ae', 'œ': 'oe'}
)
# What may be added to a word, or taken from it.
_ENDINGS = re.compile(
    r'(?:s|es|ed|d|ing|ings|r|er|ers|st|est|ly|al|ally|n|an|ian|y|e|ion|ions)?'
)


def misspelt(response: str, knowledge: str, history: Sequence[str] = ()) -> list[str]:
    """
    The words of a reply that nobody said before, that are no English words, and that
    are nearly a word of the knowledge, in lower case and without accents.

    >>> misspelt('It is on Topkap hill.', 'The palace of Topkapi stands on a hill.')
    ['topkap']
    """
    known = _words(knowledge)
    said = known.union(*map(_words, history))
    new = [w for w in _words(response) if len(w) >= LEAST_LETTERS and w not in said]
    return sorted(
        word
        for word in new
        if word not in english() and any(_like(word, other) for other in known)
    )


@lru_cache(maxsize=1)
def english() -> frozenset[str]:
    """The whole words among the pieces that the shipped detector reads."""
    folder = shipped_folder('q2_mini/consistency')
    pieces = json.loads((folder / WORDS).read_text(encoding='utf-8'))
    return frozenset(piece for piece in pieces if piece.isalpha())


def _like(word: str, other: str) -> bool:
    if word[0] != other[0]:
        return False
    rare = len(other) >= LEAST_LETTERS and other not in english()
    # British and American.
    word, other = word.replace('z', 's'), other.replace('z', 's')
    same = len(commonprefix([word, other]))
    if _ENDINGS.fullmatch(word[same:]) and _ENDINGS.fullmatch(other[same:]):
        return False  # another form of the same word
    ratio = SequenceMatcher(None, word, other, autojunk=False).ratio()
    return ratio >= (LIKE_RARE if rare else LIKE)


# All candidates of a turn are compared with the same knowledge and history.
@lru_cache(maxsize=256)
def _words(text: str) -> frozenset[str]:
    plain = unicodedata.normalize('NFKD', text).lower().translate(_PLAIN)
    return frozenset(
        _WORD.findall(''.join(c for c in plain if not unicodedata.combining(c)))
    )
