"""
Training blocks of the relevance model: turns and replies that it reads together, and
the rules that write and change their texts.
"""

import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from parlai_q2.text.selection import stems
from parlai_q2.zoo.train.relevance_pools import FRAGMENT
from parlai_q2.zoo.train.rows import Row
from parlai_q2.zoo.train.twins.twin import put

# Turns that share more than this of their words may ask the same.
MAX_SHARED = 0.5
# Declines, replies that fit any turn, and courtesies, which ask nothing.
STOCK = json.loads(Path(__file__).with_name('stock_replies.json').read_text('utf-8'))
DECLINES, GENERIC = STOCK['declines'], STOCK['generic']
# The value for no labels.
EMPTY: Mapping[int, Any] = MappingProxyType({})


@dataclass
class TrainingBlock:
    """
    Turns and replies with their labels, by the numbers of the context and the reply.

    :param turns: the turns before a reply, oldest first, for each of T contexts.
    :param replies: R texts.
    :param relevance: how well a reply answers the turn, in [0, 1].
    :param knowledge: the passages of each context as one text; empty if the model reads
        the block without knowledge.
    :param support: 1 if the knowledge supports the reply as an answer to the turn, else
        0.
    :param best: whether the reply is one of the best to the turn, and the turn the
        right one among those that the reply is read after.
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
        """The contexts and replies with a label; the model reads these."""
        return list({**self.support, **self.best, **self.relevance})


def blurred(block: TrainingBlock, draw: random.Random) -> TrainingBlock:
    """Imitate how people type and how small generators write."""
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
    """Make a question with a guess at its answer, right or wrong."""
    guess, right, wrong = draw.choice(((row['a'], 'Yes', 'No'), (other, 'No', 'Yes')))
    block = TrainingBlock([[f'{row["q"]} Is it {guess}?']], knowledge=[row['c']])
    block.add(f'{right}, {row["a"]}.', best={0: True}, support={0: 1.0})
    block.add(f'{wrong}, {other}.', best={0: False}, support={0: 0.0})
    block.add(draw.choice(DECLINES), best={0: False})
    return block


def find_fragments(passage: str, answer: str) -> list[str]:
    """The names and amounts in a passage that do not overlap with an answer."""
    answer = answer.lower()
    return [
        f
        for f in FRAGMENT.findall(passage)
        if not answer or not (f.lower() in answer or answer in f.lower())
    ]


def change_number(text: str, draw: random.Random) -> str:
    """A text with one of its numbers changed; empty if it has none."""
    numbers = list(re.finditer(r'\d+', text))
    if not numbers:
        return ''
    found = draw.choice(numbers)
    value = int(found[0])
    near = draw.choice((value + 1, value + 2, value + 10, max(0, value - 1), value * 2))
    return put(text, found, str(near))


def word_answer(answer: str, sentences: Sequence[str], draw: random.Random) -> str:
    """Word an answer as a fragment, a short sentence or its sentence in the passage."""
    own = [s for s in sentences if answer in s]
    if own and draw.random() < 0.45:
        return draw.choice(own)
    form = draw.choice(
        ('{}.', '{}', '{}.', "It's {}.", 'It was {}.', 'That would be {}.', '{}, yes.')
    )
    text = form.format(answer.rstrip('.'))
    return text[:1].upper() + text[1:]


def answer_kind(answer: str) -> str:
    if any(character.isdigit() for character in answer):
        return 'number'
    return 'name' if answer[:1].isupper() else 'words'


def are_alike(text: str, other: str) -> bool:
    """Whether two texts share so many words that they may mean the same."""
    a, b = stems(text), stems(other)
    return len(a & b) > MAX_SHARED * min(len(a), len(b)) if a and b else False


def misspell(text: str, draw: random.Random) -> str:
    """A text with one or two letters dropped or swapped."""
    for _ in range(draw.choice((1, 1, 2))):
        if len(text) < 8:
            return text
        n = draw.randrange(1, len(text) - 2)
        swapped = text[n + 1] + text[n]
        text = text[:n] + draw.choice((swapped, swapped[:1])) + text[n + 2 :]
    return text


def is_beside(text: str, row: Row, other: Row) -> bool:
    """Whether an answer certainly does not answer another question."""
    answer, asked = other['a'].lower(), other['q'].lower()
    if (
        answer in text.lower()
        or row['a'].lower() in answer
        or are_alike(row['q'], asked)
    ):
        return False
    same_word = row['q'].lower().split()[:2] == asked.split()[:2]
    alike = answer_kind(row['a']) == answer_kind(other['a']) != 'words'
    return not (alike and same_word)
