"""
Finds replies that are grounded without being good answers: verbatim copies of the
knowledge, generic replies, repetitions of what was already said, words of the knowledge
that are misspelt, and replies that do not name what they are about.

Only the text is examined, but whether a reply is generic is for the scorer to say, by
the label ``generic``, if it knows such replies: its score then has a part of that name.
The last are found by :mod:`~parlai_q2.rerank.unnamed`.
"""

import math
from functools import lru_cache
from typing import Mapping, Sequence

from parlai_q2.claims import GENERIC_PART, Label, Score
from parlai_q2.enums import Word
from parlai_q2.rerank.misspelt import misspelt
from parlai_q2.text.normalize import tokens
from parlai_q2.turns import Example


class Guard(Word):
    """In which way a reply is degenerate."""

    COPY = 'copy'
    GENERIC = 'generic'
    REPEAT = 'repeat'
    MISSPELT = 'misspelt'
    UNNAMED = 'unnamed'
    PRONOUN = 'pronoun'


# What is subtracted from the score of such a reply when one is chosen. A copy gives way
# to a reply in other words that is as grounded: where more was taken, more of what was
# chosen was wrong (of 225 pools of BEGIN dev .412 by .01, .430 by .02, .443 by .1; .407
# without guards). An empty phrase or a repetition gives way to anything consistent, a
# misspelt word and what names nothing to most of it, and a pronoun to a name. Of 790
# replies that were called consistent and read, .65 of the unnamed were wrong, .25 of
# those with a pronoun like the knowledge's, and .14 of the others (docs/training.md).
PENALTIES: Mapping[str, float] = {
    Guard.COPY: 0.01,
    Guard.GENERIC: 0.5,
    Guard.REPEAT: 0.5,
    Guard.MISSPELT: 0.3,
    Guard.UNNAMED: 0.3,
    Guard.PRONOUN: 0.05,
}
# The same where a generator learns from scores: it would soon find that copies pay.
TRAINING_PENALTIES: Mapping[str, float] = {**PENALTIES, Guard.COPY: 0.1}

# What a reply with the label ``generic`` counts at least. As much as the threshold lets
# it win over right replies that the scorer doubts (.444 wrong in place of .405).
GENERIC_LEAST = 0.2

# A copy has this share of its words in one unbroken run of the knowledge, and at least
# this many. A short answer ("in 1776") also occurs in the knowledge, but is no copy.
COPY_SHARE = 0.9
COPY_LEAST_WORDS = 8
# A short answer ("in 1776") may be given twice; a reply of this many words may not.
REPEAT_LEAST_WORDS = 4

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


def guards_of(example: Example, score: Score) -> tuple[str, ...]:
    """
    The ways in which a scored reply is degenerate: any of :class:`Guard`; usually none.
    """
    generic = score.label == Label.GENERIC
    if not generic and GENERIC_PART not in score.parts:
        generic = says_nothing(example.response)
    found = {
        Guard.COPY: is_copy(example.response, example.knowledge_text),
        Guard.GENERIC: generic,
        Guard.REPEAT: is_repeat(example.response, example.history),
        Guard.MISSPELT: bool(
            misspelt(example.response, example.knowledge_text, example.history)
        ),
    }
    return tuple(guard for guard, holds in found.items() if holds)


def is_copy(response: str, knowledge: str) -> bool:
    """
    Whether an unbroken run of :data:`COPY_SHARE` of the reply's normalised words, and
    of at least :data:`COPY_LEAST_WORDS`, occurs in the knowledge.
    """
    words = tokens(response)
    needed = max(COPY_LEAST_WORDS, math.ceil(COPY_SHARE * len(words)))
    inside = f' {" ".join(_words(knowledge))} '
    return any(
        f' {" ".join(words[i : i + needed])} ' in inside
        for i in range(len(words) - needed + 1)
    )


def is_repeat(response: str, history: Sequence[str]) -> bool:
    """
    Whether a reply of at least :data:`REPEAT_LEAST_WORDS` has the same normalised words
    as an earlier turn, of either speaker.
    """
    words = _words(response)
    return len(words) >= REPEAT_LEAST_WORDS and any(
        _words(turn) == words for turn in history
    )


# All candidates of a turn are compared with the same knowledge and history.
@lru_cache(maxsize=256)
def _words(text: str) -> tuple[str, ...]:
    return tuple(tokens(text))


def says_nothing(response: str) -> bool:
    """
    Whether a reply would fit any turn, by its words: "I don't know", "That's so cool!",
    or none at all.
    """
    return all(word in _EMPTY_WORDS for word in tokens(response))


def guarded_value(
    score: Score,
    guards: tuple[str, ...],
    threshold: float,
    penalties: Mapping[str, float] = PENALTIES,
) -> float:
    """
    The value of a score after the guards.

    Penalties take a score down to the threshold at most. A guarded reply thus loses to
    every reply that the scorer calls consistent, and still wins over an inconsistent
    one. A reply with the label ``generic`` counts as :data:`GENERIC_LEAST`, however low
    its value: it says nothing, which is better than saying what is surely wrong.
    """
    if score.label == Label.GENERIC:
        return min(max(score.value, GENERIC_LEAST), threshold)
    value, penalty = score.value, sum(penalties[g] for g in guards)
    return max(value - penalty, min(value, threshold))
