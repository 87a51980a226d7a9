"""
Scores examples that stand in no file, such as the labels of a task: what a process does
with those that it is sent. A result is the line that is kept of it.
"""

import json
from collections.abc import Sequence
from typing import Any, Optional, Protocol

from parlai_q2.cache.rows import pair_key
from parlai_q2.claims import Score
from parlai_q2.io.write import encode_line
from parlai_q2.scale.by_scorer import ScorerJob, ScorerWork
from parlai_q2.scorers.shell import pair_of
from parlai_q2.turns import Example

# Hexadecimal digits of the hash by which a line knows its example.
DIGITS = 16


class Item(Protocol):
    """An example, and where it stands, for messages."""

    @property
    def example(self) -> Example: ...

    @property
    def place(self) -> str: ...


class Judging(ScorerWork):
    """Makes the lines of examples."""

    def __call__(self, items: Sequence[Item]) -> list[bytes]:
        scores = self.scorer.score([item.example for item in items])
        return [self._line(*pair) for pair in zip(items, scores, strict=True)]

    def _line(self, item: Item, score: Score) -> bytes:
        fields = score.to_dict()
        # The same for all of them.
        del fields['signature']
        return encode_line({'of': key_of(item), **fields})


class JudgeJob(ScorerJob):
    """Scores examples."""

    work = Judging

    def lost(self, item: Item, problem: str) -> bytes:
        """The line of an example that no process survives."""
        error = f'could not be scored: {problem}'
        return encode_line({'of': key_of(item), 'error': error})


def key_of(item: Item) -> str:
    """A hash of an example's texts, which are all that its score depends on."""
    return pair_key(pair_of(item.example)).hex()[:DIGITS]


def read_line(
    line: bytes, item: Item, signature: str
) -> tuple[Optional[Score], Optional[str]]:
    """
    What the line of an item says: its score, or why it has none.

    :raises ValueError: if it is the line of another item.
    """
    fields: dict[str, Any] = json.loads(line)
    if fields['of'] != key_of(item):
        raise ValueError(f'{item.place} is another example')
    if 'error' in fields:
        return None, fields['error']
    return Score.from_dict({**fields, 'signature': signature}), None
