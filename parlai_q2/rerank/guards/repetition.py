"""Detects replies that repeat an earlier turn."""

from collections.abc import Sequence
from functools import lru_cache

from parlai_q2.rerank.guards.base import Guard, ScoredReply
from parlai_q2.text.normalize import tokens

# A short answer ("in 1776") may be given twice; a reply of this many words may not.
MIN_REPEATED_WORDS = 4


class RepetitionGuard(Guard):
    """A repetition gives way to every consistent reply."""

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
    words = _tokens(response)
    return len(words) >= MIN_REPEATED_WORDS and any(
        _tokens(turn) == words for turn in history
    )


# All candidates of a turn are compared with the same history.
@lru_cache(maxsize=256)
def _tokens(text: str) -> tuple[str, ...]:
    return tuple(tokens(text))
