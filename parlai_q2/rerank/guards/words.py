"""
Guards that compare the words of a reply with those of the knowledge and earlier turns:
copies, empty phrases, repetitions and misspelt words.
"""

import json
import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from os.path import commonprefix

from parlai_q2.claims import GENERIC_PART, Label
from parlai_q2.models.model_files import as_model_error, shipped_folder
from parlai_q2.rerank.guards.base import Guard, ScoredReply
from parlai_q2.text.normalize import tokens

# A copy has this share of its words in one unbroken run of the knowledge, and at least
# this many words. A short answer ("in 1776") is not a copy.
MIN_COPIED_SHARE = 0.9
MIN_COPIED_WORDS = 8
# A shorter reply ("in 1776") may repeat an earlier turn.
MIN_REPEATED_WORDS = 4
# Shorter words are similar to too many others.
MIN_LETTERS = 5
# The minimum similarity of two words, by difflib's ratio: a letter more or less in
# five, two in thirteen. The second, lower one is for words of the knowledge that are
# not English either, such as names. These mark 338 of 12,821 human replies, nearly all
# of them misspelt.
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
# A reply made only of these words says nothing about the world.
_EMPTY_WORDS: frozenset[str] = frozenset(
    """
    about absolutely actually ah agree all alright also always am amazing and any
    anything are arent as ask at awesome be because been bet bit but can cant care
    certain certainly come cool could course curious definitely did didnt do does doesnt
    dont enjoy ever exactly fascinating favorite feel fine for fun get glad go good got
    great guess had happy has have havent he hear heard hello help here hes
    hey hi hm hmm how i id idea if ill im indeed interested interesting is isnt it its
    ive just kind know let lets like likewise lol lot love luck make makes mate may
    maybe me mean mine more much must my myself neat never nice no nope not nothing of
    oh ok okay on or perhaps please point possible possibly pretty probably question
    quite really right said same say see seems she should so some somebody someone
    something sorry sort sound sounds such suppose sure talk tell thank thanks that
    thats their them then there theres these they theyre thing things think this those
    though thought to too totally true understand unfortunately unsure very wait was way
    we well were what whats when where which who why will wish with wonder wonderful
    would wow yeah yep yes you your youre yours
    """.split()
)


class CopyGuard(Guard):
    """
    A copy loses to a reply in other words that is as grounded. Larger penalties made
    more choices wrong: of 225 pools of BEGIN dev, 0.412 with 0.01, 0.430 with 0.02 and
    0.443 with 0.1. A generator that learns from scores would soon learn to copy, so
    training subtracts more.
    """

    name = 'copy'
    penalty = 0.01
    training_penalty = 0.1
    message = 'a copy of the knowledge'

    def detect(self, reply: ScoredReply) -> bool:
        return is_copy(reply.example.response, reply.example.knowledge_text)


def is_copy(response: str, knowledge: str) -> bool:
    """
    Whether an unbroken run of :data:`MIN_COPIED_SHARE` of the reply's normalised words,
    and of at least :data:`MIN_COPIED_WORDS`, occurs in the knowledge.
    """
    words = _words(response)
    length = max(MIN_COPIED_WORDS, math.ceil(MIN_COPIED_SHARE * len(words)))
    starts = range(len(words) - length + 1)
    if not starts:
        return False
    text = f' {" ".join(_words(knowledge))} '
    return any(f' {" ".join(words[i : i + length])} ' in text for i in starts)


class GenericGuard(Guard):
    """
    An empty phrase is worth less than a statement. If the scorer recognises generic
    replies, it decides: its score then has the part ``generic``. For other scorers the
    words of the reply decide. After a question or small talk, relevance
    decides instead.
    """

    name = 'generic'
    penalty = 0.5
    covered_by_relevance = True
    message = 'chit-chat that states nothing'

    def detect(self, reply: ScoredReply) -> bool:
        if reply.score.label == Label.GENERIC:
            return True
        return GENERIC_PART not in reply.score.parts and states_nothing(
            reply.example.response
        )


def states_nothing(response: str) -> bool:
    """
    Whether a reply would fit any turn, by its words: "I don't know", "That's so cool!",
    or none at all.
    """
    return all(word in _EMPTY_WORDS for word in _words(response))


class RepetitionGuard(Guard):
    """A repetition tells people nothing new."""

    name = 'repeat'
    penalty = 0.5
    message = 'a repetition of an earlier turn'

    def detect(self, reply: ScoredReply) -> bool:
        return is_repetition(reply.example.response, reply.example.history)


def is_repetition(response: str, history: Sequence[str]) -> bool:
    """
    Whether a reply of at least :data:`MIN_REPEATED_WORDS` has the same normalised words
    as an earlier turn, of either speaker.
    """
    words = _words(response)
    return len(words) >= MIN_REPEATED_WORDS and any(
        _words(turn) == words for turn in history
    )


class MisspellingGuard(Guard):
    """
    A reply with a misspelt word of the knowledge loses to most consistent replies. A
    scorer sees that "McCandless" is not "McCunn", but mostly overlooks "Mcunn", whose
    tokens are almost the same. Generators misspell rare names, above all when they
    sample.
    """

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
    Find the words of a reply that nobody used before, that are not English, and that
    are similar to a word of the knowledge, in lower case and without accents.

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
    """
    Common English words and names in lower case: the whole words that the tokenizer of
    the shipped models knows, which is BERT's.
    """
    path = shipped_folder('q2_mini/consistency') / 'vocabulary.json'
    with as_model_error(path):
        words = json.loads(path.read_text(encoding='utf-8'))
        return frozenset(filter(str.isalpha, words))


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


@lru_cache(maxsize=256)
def _plain_words(text: str) -> frozenset[str]:
    if text.isascii():
        return frozenset(_WORD.findall(text.lower()))
    plain = unicodedata.normalize('NFKD', text).lower().translate(_PLAIN_LETTERS)
    return frozenset(
        _WORD.findall(''.join(c for c in plain if not unicodedata.combining(c)))
    )


# All candidates of a turn are compared with the same texts.
@lru_cache(maxsize=256)
def _words(text: str) -> tuple[str, ...]:
    return tuple(tokens(text))
