"""
Normal forms of texts: which answers, passages and words count as equal.

Answers are normalised as Q2 does (Honovich et al. 2021, section 2, as in the released
code): lower-case the text, delete ASCII punctuation, delete the words a, an, the, in
and our, and collapse white space. This is SQuAD's normalisation with two more stop
words. Content words are spaCy's tokens in lower case, without its stop words and
punctuation, as that code counts them for the "Overlap" baseline.
"""

import re
import string
import unicodedata
from functools import lru_cache
from typing import Any

STOP_WORDS = ('a', 'an', 'the', 'in', 'our')

_PUNCTUATION = str.maketrans('', '', string.punctuation)
_STOP_WORDS = re.compile(r'\b(?:' + '|'.join(STOP_WORDS) + r')\b')
_REST = re.compile(r'[\W_]+')
# The same of ASCII.
_NOT_IN_KEY = {n: None for n in range(128) if not chr(n).isalnum()}
# Signs at a letter or before a number, but no hyphens and dashes.
_SIGN = re.compile(
    r'(?<=\w)[+#]+|(?<=\b[A-Z])-(?![\w-])|(?<=\b[A-Z]{2})-(?![\w-])|(?<![^\s(])[+-](?=\d)'
)
_SIGN_NAMES = {'+': 'plus', '-': 'minus', '#': 'sharp'}


def composed(text: str) -> str:
    """
    A text with each letter and its accents as one character (NFC), so that words are
    equal however they were typed.
    """
    return text if text.isascii() else unicodedata.normalize('NFC', text)


def normalize(text: str) -> str:
    """
    A text in the form in which answers are compared: "beatles hits 1964"; may be empty.
    """
    text = composed(text).lower().translate(_PUNCTUATION)
    return ' '.join(_STOP_WORDS.sub(' ', text).split())


def tokens(text: str) -> list[str]:
    """The normalised words of a text."""
    return normalize(text).split()


# Every table of an evaluation asks for the keys of the same texts.
@lru_cache(maxsize=8192)
def passage_key(text: str) -> str:
    """
    A key that is equal for all spellings of a passage (data sets lower-case or tokenise
    them): its letters and digits in lower case, or the text itself if it has none.
    """
    if text.isascii():
        return text.lower().translate(_NOT_IN_KEY) or text
    return _REST.sub('', text.casefold()) or text


def copy_key(text: str) -> str:
    """
    As :func:`passage_key`, but signs count that tell "O+" from "O-", "C" from "C#", and
    "+4" from "-4".
    """
    if not any(sign in text for sign in _SIGN_NAMES):
        return passage_key(text)
    return passage_key(
        _SIGN.sub(lambda match: _SIGN_NAMES[match[0][0]] * len(match[0]), text)
    )


@lru_cache(maxsize=1)
def _tokenizer() -> Any:
    import spacy

    # The blank tokenizer is rule-based and the same as in the English pipelines.
    return spacy.blank('en').tokenizer


def content_words(text: str) -> list[str]:
    """The content words of a text in lower case, in order, with repetition."""
    tokens = _tokenizer()(text)
    return [t.lower_ for t in tokens if not (t.is_stop or t.is_punct)]


def content_words_name() -> str:
    """What determines the content words, as signatures print it; loads nothing."""
    from importlib.metadata import version

    return f'spacy-{version("spacy")}'
