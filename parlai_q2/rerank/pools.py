"""
Reads pools, the candidate replies for one turn each, which were generated elsewhere:
JSON lines with ``knowledge`` (a text or a list of passages), ``candidates`` and,
optionally, ``history`` and ``id``. A candidate is a text, or an object with ``text``
and, optionally, ``score`` (the log probability that its generator gave it), ``tokens``
(how many it has) and ``label`` (a human judgement, ``consistent`` or ``inconsistent``).
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Optional

from parlai_q2.errors import InputError, RecordError
from parlai_q2.io.knowledge import stripped
from parlai_q2.io.read import history_of, json_objects, knowledge_of, open_text
from parlai_q2.io.strict_json import is_number
from parlai_q2.records import Label, Passage, passages_of
from parlai_q2.rerank.candidate import Candidate

# The strategy of a candidate that was not searched for here.
GIVEN = ('given',)
HUMAN_LABELS = (Label.CONSISTENT, Label.INCONSISTENT)


@dataclass(frozen=True)
class Pool:
    """
    The candidates for one turn, in the generator's order; from a file, also its record
    or the error in it, like :class:`~parlai_q2.io.read.Record`.

    :param knowledge: as for :class:`~parlai_q2.records.Example`; empty for none.
    :param history: the turns before the reply, oldest first.
    :param labels: a human judgement for each candidate, or None.
    """

    knowledge: Any = ''
    candidates: tuple[Candidate, ...] = ()
    history: tuple[str, ...] = ()
    labels: tuple[Optional[str], ...] = ()
    line: int = 0
    fields: dict[str, Any] = field(default_factory=dict)
    error: Optional[RecordError] = None
    nulled: tuple[str, ...] = ()

    @property
    def passages(self) -> tuple[Passage, ...]:
        """What the candidates are scored against; empty if all of it is blank."""
        return stripped(passages_of(self.knowledge))

    @property
    def labelled(self) -> bool:
        """Whether every candidate has a human judgement."""
        return bool(self.labels) and all(self.labels)


def read_pools(path: Path) -> Iterator[Pool]:
    """
    Read the pools of a file of JSON lines, in order. A bad record gives a pool with an
    error; a file that cannot be read, an InputError.
    """
    with open_text(path) as stream:
        for line, fields, problem, nulled in json_objects(stream):
            try:
                if problem is not None:
                    raise InputError(problem)
                yield replace(_pool(line, fields), nulled=nulled)
            except InputError as e:
                error = RecordError(path.name, line, str(e))
                yield Pool(line=line, fields=fields, error=error, nulled=nulled)


def _pool(line: int, fields: dict[str, Any]) -> Pool:
    candidates = fields.get('candidates')
    if not isinstance(candidates, list) or not candidates:
        raise InputError('needs "candidates", a list of at least one candidate.')
    given = [_candidate(n, one) for n, one in enumerate(candidates)]
    return Pool(
        knowledge_of(fields) if 'knowledge' in fields else '',
        tuple(candidate for candidate, _ in given),
        history_of(fields),
        tuple(label for _, label in given),
        line,
        fields,
    )


def _candidate(place: int, given: Any) -> tuple[Candidate, Optional[str]]:
    if isinstance(given, str):
        return Candidate(given, GIVEN), None
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
    if not is_number(score) or not is_number(tokens) or tokens < 1:
        raise InputError(
            f'candidate {place}: "score" and "tokens" must be finite numbers, and '
            '"tokens" at least 1.'
        )
    mean = float(score) / int(tokens)
    return Candidate(given['text'], GIVEN, float(score), mean), label
