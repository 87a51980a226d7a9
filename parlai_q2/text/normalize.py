"""
Normalises texts the way Q2 does before it compares answers.

Honovich et al. 2021, section 2, as in the released code: lower-case the text, delete
ASCII punctuation, delete the words a, an, the, in and our, and collapse white space.
This is SQuAD's normalisation with two more stop words.
"""

import re
import string
import unicodedata

STOP_WORDS = ('a', 'an', 'the', 'in', 'our')

_PUNCTUATION = str.maketrans('', '', string.punctuation)
_STOP_WORDS = re.compile(r'\b(?:' + '|'.join(STOP_WORDS) + r')\b')


def composed(text: str) -> str:
    """
    A text with each letter and its accents as one character (NFC), so that words are
    equal however they were typed.
    """
    return text if text.isascii() else unicodedata.normalize('NFC', text)


def normalize(text: str) -> str:
    """
    Normalise a text for comparing answers.

    :param text: any text.
    :return: the normalised text; may be empty.

    >>> normalize("The Beatles' hits, in 1964!")
    'beatles hits 1964'
    """
    text = composed(text).lower().translate(_PUNCTUATION)
    return ' '.join(_STOP_WORDS.sub(' ', text).split())


def tokens(text: str) -> list[str]:
    """The normalised words of a text."""
    return normalize(text).split()
