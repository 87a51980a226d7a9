"""
Finds what a reply makes up: names, numbers and words that are neither in its knowledge
nor in the turn it replies to.

These are rules about words alone, so that no model judges what another model learnt. A
name is a capitalised word that does not begin a sentence; a number is written in digits
or in letters. A made-up name in lower case escapes. The share of new content words
catches it, but counts chit-chat too.
"""

import re

from parlai_q2.text.content_words import content_words
from parlai_q2.text.numbers import numbers
from parlai_q2.text.sentences import sentences

_LETTERS = re.compile(r'[^\W\d_]+')


def names(text: str) -> set[str]:
    """
    The capitalised words of a text, in lower case, except those that begin a sentence.

    :param text: any text; words of one letter ("I") are not names.
    """
    found = set()
    for sentence in sentences(text):
        for word in _LETTERS.findall(sentence.text)[1:]:
            if word[0].isupper() and len(word) > 1:
                found.add(word.lower())
    return found


def made_up(reply: str, given: str) -> list[str]:
    """
    The names and numbers that a reply was not given, in alphabetical order.

    :param reply: any text.
    :param given: the reply's knowledge and the turn before it.
    """
    known = set(_LETTERS.findall(given.lower()))
    return sorted((names(reply) - known) | (numbers(reply) - numbers(given)))


def new_words(reply: str, given: str) -> float:
    """
    The share of content words that a reply was not given.

    :return: in [0, 1]; 0 for a reply without content words.
    """
    known = set(content_words(given.lower()))
    said = content_words(reply.lower())
    return sum(word not in known for word in said) / len(said) if said else 0.0
