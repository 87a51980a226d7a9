"""
Reads pools of candidate replies that were generated elsewhere: JSON lines with
``knowledge``, ``candidates`` and, optionally, ``history`` and ``id``.

A candidate is a text, or an object with ``text`` and, optionally, ``score`` (the log
probability that its generator gave it), ``tokens`` (its number of tokens) and ``label``
(a human judgement, ``consistent`` or ``inconsistent``).
"""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, Optional

from parlai_q2.errors import InputError, RecordError
from parlai_q2.io.read import history_of, joined, json_lines, open_text
from parlai_q2.records import Label

HUMAN_LABELS = (Label.CONSISTENT, Label.INCONSISTENT)


class PoolCandidate(NamedTuple):
    """
    One candidate of a pool.

    :param text: the reply.
    :param score: the log probability that its generator gave it; 0 if not given.
    :param tokens: its number of tokens, to compute a mean per token; at least 1.
    :param label: a human judgement, or None.
    """

    text: str
    score: float = 0.0
    tokens: int = 1
    label: Optional[str] = None


class Pool(NamedTuple):
    """
    One turn and its candidates, or the error in its record.
    """

    line: int
    fields: dict[str, Any]
    knowledge: str = ''
    history: tuple[str, ...] = ()
    candidates: tuple[PoolCandidate, ...] = ()
    error: Optional[RecordError] = None

    @property
    def labelled(self) -> bool:
        """
        Whether every candidate has a human judgement.
        """
        return bool(self.candidates) and all(c.label for c in self.candidates)


def read_pools(path: Path) -> Iterator[Pool]:
    """
    Read the pools of a file, in order. A bad record gives a pool with an error.

    :param path: a file of JSON lines.
    :raises InputError: if the file cannot be read at all.
    """
    with open_text(path) as stream:
        for line, value, problem in json_lines(stream):
            if problem is None and not isinstance(value, dict):
                problem = f'is a JSON {type(value).__name__}, not an object.'
            fields = value if isinstance(value, dict) else {}
            try:
                if problem is not None:
                    raise InputError(problem)
                yield _pool(line, fields)
            except InputError as e:
                error = RecordError(path.name, line, str(e))
                yield Pool(line, fields, error=error)


def _pool(line: int, fields: dict[str, Any]) -> Pool:
    candidates = fields.get('candidates')
    if not isinstance(candidates, list) or not candidates:
        raise InputError('needs "candidates", a list of at least one candidate.')
    knowledge = joined(fields.get('knowledge', ''))
    if not isinstance(knowledge, str):
        raise InputError('"knowledge" must be a string or a list of strings.')
    return Pool(
        line,
        fields,
        knowledge,
        history_of(fields),
        tuple(_candidate(n, given) for n, given in enumerate(candidates)),
    )


def _candidate(place: int, given: Any) -> PoolCandidate:
    if isinstance(given, str):
        return PoolCandidate(given)
    if not isinstance(given, dict) or not isinstance(given.get('text'), str):
        shown = json.dumps(given, default=str)[:40]
        raise InputError(
            f'candidate {place} is neither a string nor an object with a string as '
            f'"text": {shown}'
        )
    label = given.get('label')
    if label not in (None, *HUMAN_LABELS):
        raise InputError(
            f'candidate {place} has the label {label!r}; it must be '
            f'{" or ".join(HUMAN_LABELS)}.'
        )
    score, tokens = given.get('score', 0.0), given.get('tokens', 1)
    if not _is_number(score) or not _is_number(tokens) or tokens < 1:
        raise InputError(
            f'candidate {place}: "score" and "tokens" must be finite numbers, and '
            '"tokens" at least 1.'
        )
    return PoolCandidate(given['text'], float(score), int(tokens), label)


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return math.isfinite(value)
    # An integer may be too large for a float.
    except OverflowError:
        return False
