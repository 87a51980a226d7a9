"""
Builds the search query of a turn from the conversation.

Measured on held-out dialogues (docs/documents.md): the last two turns find more than
the last alone, and names carried on from earlier turns more than these. Names are words
within a sentence that are capitalised.

A question to documents is another matter: the reply before it quotes a passage, which
its words would find again. It is searched for alone or, if it leans on what was asked
before ("And abroad?"), with that.
"""

import re
from collections.abc import Callable, Sequence

from parlai_q2.enums import Word
from parlai_q2.text.selection import stems

_NAME = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-Z][\w'’-]+(?:\s+[A-Z][\w'’-]+)*")
# So many turns before the last two may have names that are carried on.
MAX_BACK = 4
_LEANS = re.compile(
    r'\W*(and|or|but|what about|how about)\b|'
    r'.*\b(it|its|they|them|their|he|him|his|she|her|that|this|those|these)\b',
    re.IGNORECASE | re.DOTALL,
)


class Query(Word):
    """What the query of a turn is made of."""

    LAST = 'last'
    TWO = 'two'  # the last two turns
    NAMES = 'names'  # these, and names of earlier ones
    TURNS = 'turns'  # all, each on a line of its own


DEFAULT_QUERY = Query.NAMES


def _last(history: Sequence[str]) -> str:
    return history[-1]


def _two(history: Sequence[str]) -> str:
    return '\n'.join(history[-2:])


def _names(history: Sequence[str]) -> str:
    earlier = '\n'.join(history[:-2][-MAX_BACK:])
    names = dict.fromkeys(match[0] for match in _NAME.finditer(earlier))
    return '\n'.join([_two(history), *names])


def _turns(history: Sequence[str]) -> str:
    return '\n'.join(' '.join(turn.split()) for turn in history)


_MAKERS: dict[Query, Callable[[Sequence[str]], str]] = {
    Query.LAST: _last,
    Query.TWO: _two,
    Query.NAMES: _names,
    Query.TURNS: _turns,
}


def make_query(history: Sequence[str], parts: str = DEFAULT_QUERY) -> str:
    """
    Make the query of a turn.

    :param history: the turns before the reply, oldest first; of none, nothing is
        searched for.
    :param parts: what it is made of: one of :class:`Query`.
    :raises UnknownNameError: if it is something else.

    >>> make_query(['I love the novels of Ursula Le Guin.', 'Oh?', 'Which is best?'],
    ...     'names')
    'Oh?\\nWhich is best?\\nUrsula Le Guin'
    """
    query, turns = Query.named('query', parts), [t for t in history if t.strip()]
    return _MAKERS[query](turns) if turns else ''


def find_question(history: Sequence[str]) -> str:
    """
    Find the question that a history ends with, after those of the same person that it
    leans on.

    >>> find_question(['How long does it take to Rome?', 'Two days.', 'And to Oslo?'])
    'How long does it take to Rome?\\nAnd to Oslo?'
    >>> find_question(['How long does it take?', 'Two.', 'How can I pay the bill?'])
    'How can I pay the bill?'
    """
    same_person = list(history[::-2][: 1 + MAX_BACK // 2])
    count = 1
    while count < len(same_person) and leans(same_person[count - 1]):
        count += 1
    return '\n'.join(same_person[:count][::-1])


def leans(question: str) -> bool:
    """
    Whether what a question is about stands before it, to judge by its words.

    >>> leans('How warm is it?'), leans('How warm is the pool?')
    (True, False)
    """
    return _LEANS.match(question) is not None or len(stems(question)) < 2
