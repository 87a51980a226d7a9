"""
Answers small talk in a chat about documents: a greeting, thanks, a farewell, or whether
one is well or can help.

No document says how to reply to "thanks!". A generator that is shown one quotes it, and
one that is shown nothing makes something up, so the reply is one of the sentences in
``small_talk.yaml``.
"""

import re
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

import yaml

from parlai_q2.retrieve.words import chat_weight, words_of

# A word of at most this weight tells nothing in conversation.
LITTLE = 0.3


class SmallTalk(NamedTuple):
    """
    Small talk and the replies to it.

    :param replies: patterns with the replies to what they match, the most telling
        first.
    :param beside: words, as they are indexed, that may stand beside that.
    """

    replies: tuple[tuple[re.Pattern[str], str], ...]
    beside: frozenset[str]


@lru_cache(maxsize=1)
def _load() -> SmallTalk:
    text = files('parlai_q2.retrieve').joinpath('small_talk.yaml').read_text('utf-8')
    fields = yaml.safe_load(text)
    replies = tuple(
        (re.compile(rf'\b(?:{row["says"]})\b'), row['reply'])
        for row in fields['replies']
    )
    return SmallTalk(replies, frozenset(words_of(fields['beside'])))


def courtesy(text: str) -> str | None:
    """
    The reply to a turn that is only small talk; None if it says or asks something.

    >>> courtesy('Thanks a lot!'), courtesy('Thanks. How do I pay?')
    ("You're welcome!", None)
    """
    replies, beside = _load()
    rest, reply = ' '.join(text.lower().replace('’', "'").split()), None
    for pattern, answer in replies:
        rest, count = pattern.subn(' ', rest)
        if count and reply is None:
            reply = answer
    # "Good?" asks about something.
    if reply == replies[-1][1] and '?' in text:
        return None
    words = set(words_of(rest)) - beside
    return reply if all(chat_weight(word) <= LITTLE for word in words) else None
