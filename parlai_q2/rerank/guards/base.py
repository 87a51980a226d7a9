"""The base class of guards."""

from collections.abc import Sequence
from typing import NamedTuple

from parlai_q2.claims import Score
from parlai_q2.turns import Example


class ScoredReply(NamedTuple):
    """
    A candidate reply with its turn and its score.

    :param example: the reply (``response``) with its knowledge and history.
    :param threshold: a value of at most this, in [0, 1], is inconsistent.
    :param has_models: whether the scorer reads with models. Guards that need a parser
        skip the replies of scorers without models, which are chosen for speed.
    """

    example: Example
    score: Score
    threshold: float = 0.5
    has_models: bool = True


class Guard:
    """
    Detects one way in which a grounded reply can be a bad reply.

    :cvar name: one word, which stands in rows, metrics (``rerank/<name>``) and
        ``Reranker(penalties={name: ...})``.
    :cvar penalty: subtracted from the score when a reply is chosen, in [0, 1].
    :cvar training_penalty: the penalty when a generator learns from scores; None:
        ``penalty``.
    :cvar covered_by_relevance: whether such a reply is bad because it may not answer
        the turn. The penalty then does not count if relevance was read, and the turn
        asks something or is small talk.
    :cvar message: a description of such a reply, to complete the sentence "It is ...".
    """

    name: str
    penalty: float
    # Each is set by one guard. Only the training penalties of GUARDS are read.
    training_penalty: float | None = None
    covered_by_relevance: bool = False
    message: str

    def detect(self, reply: ScoredReply) -> bool:
        """Whether the guard holds for a reply."""
        raise NotImplementedError

    def detect_batch(self, replies: Sequence[ScoredReply]) -> list[bool]:
        """Whether it holds for each of N replies, the same as one at a time."""
        return [self.detect(reply) for reply in replies]

    def __repr__(self) -> str:
        return f'{type(self).__name__}({self.name}, {self.penalty:g})'
