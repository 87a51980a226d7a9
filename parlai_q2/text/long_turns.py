"""Shortens long turns to what they ask, as readers of short questions overlook it."""

import re
from itertools import chain

from parlai_q2.text.questions import is_small_talk, only_greets

MAX_TURN_WORDS = 25
_BEHIND_SENTENCE = re.compile(r'(?<=[.!?])\s+')
_REFERS_BACK = re.compile(
    r'\b(?:it|its|they|them|their|this|that|these|those|he|him|his|she|her|one|there)\b',
    re.IGNORECASE,
)


def shorten_turn(text: str) -> str:
    """
    The questions of a turn of more than :data:`MAX_TURN_WORDS` words, which readers of
    short questions overlook, each with the sentence that "it" refers to; the turn
    without courtesies if it asks none. Of a longer sentence, the end.
    """
    if text.count(' ') < MAX_TURN_WORDS:
        return text
    sentences = [s for s in _BEHIND_SENTENCE.split(text) if not only_greets(s)]
    asked: list[str] = []
    for last, sentence in zip(['', *sentences], sentences, strict=False):
        if sentence.endswith('?') and not is_small_talk(sentence):
            needs_last = last not in asked and _REFERS_BACK.search(sentence)
            asked += [last, sentence] if needs_last else [sentence]
    if not asked and len(sentences) > 1:
        return ' '.join(sentences)
    words = [s.split()[-MAX_TURN_WORDS:] for s in asked or sentences]
    return ' '.join(chain.from_iterable(words))
