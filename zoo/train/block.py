"""A block: turns and replies that the model of relevance learns from together."""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from parlai_q2.zoo.train.relevance_pools import Row
from parlai_q2.zoo.train.relevance_texts import DECLINES, misspell

# No labels.
EMPTY: Mapping[int, Any] = MappingProxyType({})


@dataclass
class TrainingBlock:
    """
    Turns and replies, with what is known of them.

    :param turns: the turns before a reply, oldest first, for each of T contexts.
    :param replies: R texts.
    :param relevance: in [0, 1], by context and reply; what is missing is not known.
    :param knowledge: of blocks for support, the passages as one text, by context.
    :param support: whether the knowledge supports a reply after a turn.
    :param best: whether a reply is a best one of those to a turn, and whether its turn
        is the right one of those that it is read after.
    """

    turns: list[list[str]] = field(default_factory=list)
    replies: list[str] = field(default_factory=list)
    relevance: dict[tuple[int, int], float] = field(default_factory=dict)
    knowledge: Sequence[str] = ()
    support: dict[tuple[int, int], float] = field(default_factory=dict)
    best: dict[tuple[int, int], bool] = field(default_factory=dict)

    def add(
        self,
        text: str,
        relevance: Mapping[int, float] = EMPTY,
        support: Mapping[int, float] = EMPTY,
        best: Mapping[int, bool] = EMPTY,
    ) -> None:
        """Add a reply with its labels by context."""
        reply = len(self.replies)
        self.replies.append(text)
        self.relevance.update({(t, reply): label for t, label in relevance.items()})
        self.support.update({(t, reply): label for t, label in support.items()})
        self.best.update({(t, reply): label for t, label in best.items()})

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The contexts and replies that the model reads: those with a label."""
        return list({**self.support, **self.best, **self.relevance})


def blurred(block: TrainingBlock, draw: random.Random) -> TrainingBlock:
    """A block written as people and small generators write: see the module's rules."""
    lower, bare, typos = (draw.random() < share for share in (0.2, 0.15, 0.12))
    for n, turns in enumerate(block.turns):
        if not turns:
            continue
        last = turns[-1]
        if bare:
            last = last.rstrip('?. !')
        if typos:
            last = misspell(last, draw)
        block.turns[n] = [*turns[:-1], last.lower() if lower else last]
    for n, text in enumerate(block.replies):
        if draw.random() < 0.15:
            text = re.sub(r"([.,!?';:])", r' \1 ', text.lower()).strip()
            block.replies[n] = re.sub(r'\s+', ' ', text)
    return block


def ask_again(row: Row, other: str, draw: random.Random) -> TrainingBlock:
    """A question with a guess at its answer, which is right or wrong."""
    guess, right, wrong = draw.choice(((row['a'], 'Yes', 'No'), (other, 'No', 'Yes')))
    block = TrainingBlock([[f'{row["q"]} Is it {guess}?']], knowledge=[row['c']])
    block.add(f'{right}, {row["a"]}.', best={0: True}, support={0: 1.0})
    block.add(f'{wrong}, {other}.', best={0: False}, support={0: 0.0})
    block.add(draw.choice(DECLINES), best={0: False})
    return block
