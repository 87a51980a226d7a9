"""
Finds the numbers in a text, written in digits or in words. Numbers are what a response
most often gets wrong when it otherwise copies its knowledge.
"""

import re

_DIGITS = re.compile(r'\d+(?:[.,]\d+)*')
_WORD = re.compile(r'[a-z]+')
# "one" is left out: it is rarely a number ("one of the best").
_LETTERS = {
    word: str(n)
    for n, word in enumerate(
        'zero one two three four five six seven eight nine ten eleven twelve thirteen '
        'fourteen fifteen sixteen seventeen eighteen nineteen twenty'.split()
    )
    if word != 'one'
}


def numbers(text: str) -> set[str]:
    """The numbers in a text, as digits without thousands separators."""
    text = text.lower()
    digits = {n.replace(',', '') for n in _DIGITS.findall(text)}
    return digits | {_LETTERS[w] for w in _WORD.findall(text) if w in _LETTERS}


def known_numbers(knowledge: str, text: str) -> float:
    """
    The share of a text's numbers that also occur in the knowledge, in [0, 1]; 1 for a
    text without numbers.
    """
    claimed = numbers(text)
    return len(claimed & numbers(knowledge)) / len(claimed) if claimed else 1.0
