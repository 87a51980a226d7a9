"""
Reads pools, the candidate replies for one turn each, which were generated elsewhere:
JSON lines with ``knowledge`` (a text or a list of passages), ``candidates`` and,
optionally, ``history`` and ``id``. A candidate is a text, or an object with ``text``
and, optionally, ``score`` (the log probability that its generator gave it), ``tokens``
(how many it has) and ``label`` (a human judgement, ``consistent`` or ``inconsistent``).
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Optional, Union

from parlai_q2.claims import Label
from parlai_q2.errors import InputError, RecordError, place_of
from parlai_q2.io.fields import NO_NAMES, RANKED, renamed, tell_unread
from parlai_q2.io.locations import Location
from parlai_q2.io.read import history_of, knowledge_of, read_objects
from parlai_q2.rerank.candidate import Candidate
from parlai_q2.turns import Knowledge, Turn
from parlai_q2.typed import is_number

# The strategy of a candidate that was not searched for here.
GIVEN = ('given',)
# The endings of files whose cells hold one text each.
TABLES = ('.csv', '.tsv')
HUMAN_LABELS = (Label.CONSISTENT, Label.INCONSISTENT)


@dataclass(frozen=True, init=False)
class Pool(Turn):
    """
    A turn with the candidates for its reply.

    :param candidates: N candidates in the generator's order, each a text or a
        :class:`Candidate`.
    :param answered: whether the knowledge answers the last turn, if it is known: an
        answer then need not name what it is about.

    >>> Pool('Bees have five eyes.', ['Five!']).candidates[0].text
    'Five!'
    """

    candidates: tuple[Candidate, ...] = ()
    answered: Optional[bool] = None

    def __init__(
        self,
        knowledge: Knowledge = '',
        candidates: Iterable[Union[str, Candidate]] = (),
        history: Sequence[str] = (),
        id: Optional[str] = None,
        answered: Optional[bool] = None,
    ):
        super().__init__(knowledge, history, id)
        object.__setattr__(self, 'candidates', _candidates(candidates))
        object.__setattr__(self, 'answered', answered)


def _candidates(given: Any) -> tuple[Candidate, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(
            f'Candidates must be a list, not {type(given).__name__}: ["It is far."]'
        )
    found = tuple(Candidate(one) if isinstance(one, str) else one for one in given)
    for one in found:
        if not isinstance(one, Candidate):
            raise InputError(
                'A candidate must be a string or a Candidate, not '
                f'{type(one).__name__}. Write Candidate("It is far.").'
            )
    return found


class PoolRecord(NamedTuple):
    """
    One record of a file of pools: its line and all its fields, and the pool or the
    error, like :class:`~parlai_q2.io.read.Record`, which has the rest, too.

    :param labels: a human judgement for each candidate, or None.
    """

    line: int
    fields: dict[str, Any]
    pool: Optional[Pool]
    error: Optional[RecordError]
    labels: tuple[Optional[str], ...] = ()
    nulled: tuple[str, ...] = ()
    read: int = 0
    source: str = ''

    @property
    def labelled(self) -> bool:
        """Whether every candidate has a human judgement."""
        return bool(self.labels) and all(self.labels)

    @property
    def place(self) -> str:
        """Where it stands, for messages: ``pools.jsonl, line 3``."""
        return place_of(self.source, self.line)

    def without(self, error: RecordError) -> 'PoolRecord':
        """The record with an error in place of all that it holds."""
        return self._replace(fields={}, pool=None, error=error, labels=(), nulled=())


def read_pools(
    path: Location, names: Mapping[str, str] = NO_NAMES
) -> Iterator[PoolRecord]:
    """
    Read the pools of a file of JSON lines or Parquet, in order. A bad record gives an
    error in its place; a file that cannot be read, an InputError.

    :param names: as for :func:`~parlai_q2.io.read.read_records`.
    """
    name, first = path.name, True
    if path.suffix.lower() in TABLES:
        raise InputError(
            f'{name}: candidates are a list, which a cell cannot hold. Give JSON lines '
            'or Parquet: {"knowledge": "...", "candidates": ["...", "..."]}'
        )
    for (line, fields, problem, nulled, flaw), read in read_objects(path):
        if first and fields:
            tell_unread(fields, names, RANKED)
            first = False
        fields = renamed(fields, names)
        try:
            if problem is not None:
                raise InputError(problem)
            pool, labels = pool_of(fields)
            yield PoolRecord(line, fields, pool, None, labels, nulled, read, name)
        except InputError as e:
            error = RecordError(name, line, str(e), flaw)
            yield PoolRecord(line, fields, None, error, (), nulled, read, name)


def pool_of(fields: dict[str, Any]) -> tuple[Pool, tuple[Optional[str], ...]]:
    """
    The pool that a record's fields describe, and the human judgements in it.

    :raises InputError: if a field is missing or has the wrong type.
    """
    candidates = fields.get('candidates')
    if not isinstance(candidates, list) or not candidates:
        remedy = (
            ' This is a file for: parlai_q2 score'
            if candidates is None and isinstance(fields.get('response'), str)
            else ''
        )
        raise InputError(
            f'needs "candidates", a list of at least one candidate.{remedy}'
        )
    given = [_candidate(n, one) for n, one in enumerate(candidates)]
    pool = Pool(
        knowledge_of(fields) if 'knowledge' in fields else '',
        [candidate for candidate, _ in given],
        history_of(fields),
        None if fields.get('id') is None else str(fields['id']),
    )
    return pool, tuple(label for _, label in given)


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
            '"tokens" at least 1. Leave out what is not known.'
        )
    mean = float(score) / int(tokens)
    return Candidate(given['text'], GIVEN, float(score), mean), label
