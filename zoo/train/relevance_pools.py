"""
Pools of replies to one turn, for training and measuring the relevance model.

A pool has ``kind``, ``knowledge`` (passages), ``history`` (turns, the user's last) and
``candidates``, each with ``text``, ``g`` (1 supported, 0 not, "n" claims nothing) and
``a`` (2 answers, 1 partly, 0 not). If all candidates of a generator are bad, ``best``
marks those that people would send nevertheless.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from parlai_q2.zoo.train.rows import Row

# A name or a number: the fragments of a passage that answer some question.
FRAGMENT = re.compile(
    r"\b[A-Z][\w'-]+(?: [A-Z][\w'-]+)+|\b\d[\d,.]*\d(?: \w+)?|\b\d+ \w+"
)

Pool = dict[str, Any]

_AUXILIARY = re.compile(
    r'^((?:The|It|He|She|They|In|This|These|[A-Z])[^,;:()]{0,50}?) '
    r'(is|are|was|were|has been|have been|had been|can|could|will|may|must) '
    r'([^;:()]{6,110})[.!]$'
)


def is_held_out_pool(pool: Row) -> bool:
    """
    Whether a pool is for development; the hash of its first passage decides, 1 in 5 is.
    """
    return int(hashlib.sha1(pool['knowledge'][0].encode()).hexdigest(), 16) % 5 == 0


def is_best(reply: Row) -> bool:
    """Whether people would send a reply: it answers, and claims nothing unsupported."""
    return bool(reply.get('best', reply['g'] != 0 and reply['a'] == 2))


def sentences_of(text: str) -> list[str]:
    """Split a passage into sentences, well enough for training data."""
    return [s for s in re.split(r'(?<=[.!?])\s+(?=[A-Z"(\d])', text) if len(s) > 15]


def group_rows(rows: Sequence[Any], key: Callable[[Any], str]) -> dict[str, list[Any]]:
    """The rows with each key, in order."""
    groups: dict[str, list[Any]] = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return groups


def pair_on_passages(pools: Sequence[Pool]) -> list[tuple[Pool, Pool]]:
    """Pair each pool with the next one on the same passages, or else with itself."""
    by_passage = group_rows(pools, lambda pool: pool['knowledge'][0])
    pairs = []
    for pool in pools:
        same = by_passage[pool['knowledge'][0]]
        pairs.append((pool, same[(same.index(pool) + 1) % len(same)]))
    return pairs


def yes_no_question(sentence: str) -> tuple[str, str, str] | None:
    """
    Turn a statement into a question, with its auxiliary and what follows it; None for a
    statement of another form.

    >>> yes_no_question('The museum was opened in 1903.')
    ('Was the museum opened in 1903?', 'was', 'opened in 1903')
    """
    match = _AUXILIARY.match(sentence)
    if match is None or match[1].startswith('In '):
        return None
    subject, auxiliary, rest = match.groups()
    first, *others = auxiliary.split()
    words = subject.split()
    if words[0] in ('The', 'It', 'He', 'She', 'They', 'This', 'These', 'A', 'An'):
        subject = subject[:1].lower() + subject[1:]
    return ' '.join([first.capitalize(), subject, *others, rest]) + '?', first, rest
