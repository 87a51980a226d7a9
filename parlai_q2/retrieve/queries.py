"""
Makes the query of a turn: what is searched for, of what was said.

Measured on held-out dialogues (docs/documents.md): the last two turns find more than
the last alone, and names carried on from earlier turns more than these. Names are words
within a sentence that are capitalised.
"""

import re
from collections.abc import Callable, Sequence

from parlai_q2.errors import UnknownNameError

DEFAULT_QUERY = 'names'
_NAME = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-Z][\w'’-]+(?:\s+[A-Z][\w'’-]+)*")
# So many turns before the last two may have names that are carried on.
_BACK = 4


def _last(history: Sequence[str]) -> str:
    return history[-1]


def _two(history: Sequence[str]) -> str:
    return '\n'.join(history[-2:])


def _names(history: Sequence[str]) -> str:
    earlier = '\n'.join(history[:-2][-_BACK:])
    names = dict.fromkeys(found[0] for found in _NAME.finditer(earlier))
    return '\n'.join([_two(history), *names])


def _turns(history: Sequence[str]) -> str:
    return '\n'.join(' '.join(turn.split()) for turn in history)


_MADE: dict[str, Callable[[Sequence[str]], str]] = {
    'last': _last,
    'two': _two,
    'names': _names,
    'turns': _turns,
}
QUERIES = tuple(_MADE)


def query_of(history: Sequence[str], made_of: str = DEFAULT_QUERY) -> str:
    """
    The query of a turn.

    :param history: the turns before the reply, oldest first; of none, nothing is
        searched for.
    :param made_of: ``last``, ``two`` (the last two turns), ``names`` (these, and
        names of earlier ones), or ``turns`` (all, each on a line of its own).
    :raises UnknownNameError: if it is something else.

    >>> query_of(['I love the novels of Ursula Le Guin.', 'Oh?', 'Which is best?'],
    ...     'names')
    'Oh?\\nWhich is best?\\nUrsula Le Guin'
    """
    if made_of not in _MADE:
        raise UnknownNameError('query', made_of, QUERIES)
    said = [turn for turn in history if turn.strip()]
    return _MADE[made_of](said) if said else ''
