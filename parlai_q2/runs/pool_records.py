"""
Reads pools, the candidate replies for one turn each, which were generated elsewhere:
records with ``knowledge`` (a text or a list of passages), ``candidates`` and,
optionally, ``history`` and ``id``. A cell of a table has a list as JSON.

A candidate is a text, or an object with ``text`` and, optionally, ``score`` (the log
probability that its generator gave it), ``tokens`` (how many it has) and ``label`` (a
human judgement, ``consistent`` or ``inconsistent``).
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from parlai_q2.claims import Label
from parlai_q2.errors import InputError
from parlai_q2.io.fields import NO_NAMES, POOL_FIELDS
from parlai_q2.io.files import Location
from parlai_q2.io.formats import FORMAT_BY_SUFFIX, Format
from parlai_q2.io.read import Record, knowledge_of, parse_lines, read_history, require
from parlai_q2.json_values import is_number
from parlai_q2.rerank.candidate import Candidate, Pool

# The strategy name of a candidate that was generated elsewhere.
GIVEN_CANDIDATE = ('given',)
HUMAN_LABELS = (Label.CONSISTENT, Label.INCONSISTENT)


def read_pools(path: Location, names: Mapping[str, str] = NO_NAMES) -> Iterator[Record]:
    """
    Read the pools of a file, in order. A bad record yields an error in its place; an
    unreadable file raises InputError.

    :param names: as for :func:`~parlai_q2.io.read.read_records`.
    """
    format = FORMAT_BY_SUFFIX.get(path.suffix.lower(), Format.JSONL)
    return parse_lines(path, format, names, POOL_FIELDS, parse_pool)


def parse_pool(fields: Mapping[str, Any]) -> Pool:
    """
    Parse the pool that a record's fields describe.

    :raises InputError: if a field is missing or has the wrong type.
    """
    candidates = fields.get('candidates')
    if isinstance(candidates, str):
        raise InputError(
            'candidates are a list, which a cell of a table has as JSON: '
            f'["It is far.", "No."], not {candidates[:40]!r}'
        )
    if not isinstance(candidates, list) or not candidates:
        remedy = (
            ' This is a file for: parlai_q2 score'
            if candidates is None and isinstance(fields.get('response'), str)
            else ''
        )
        raise InputError(
            f'needs "candidates", a list of at least one candidate.{remedy}'
        )
    require('knowledge', fields)
    return Pool(
        knowledge_of(fields),
        [_parse_candidate(n, value) for n, value in enumerate(candidates)],
        read_history(fields),
        None if fields.get('id') is None else str(fields['id']),
    )


def _parse_candidate(place: int, value: Any) -> Candidate:
    if isinstance(value, str):
        return Candidate(value, GIVEN_CANDIDATE)
    if not isinstance(value, dict) or not isinstance(value.get('text'), str):
        excerpt = json.dumps(value, default=str)[:40]
        raise InputError(
            f'candidate {place} is neither a string nor an object with a string as '
            f'"text": {excerpt}'
        )
    label = value.get('label')
    if label not in (None, *HUMAN_LABELS):
        raise InputError(
            f'candidate {place} has the label {label!r}; it must be '
            f'{" or ".join(HUMAN_LABELS)}.'
        )
    score, tokens = value.get('score', 0.0), value.get('tokens', 1)
    if not is_number(score) or not is_number(tokens) or tokens < 1:
        raise InputError(
            f'candidate {place}: "score" and "tokens" must be finite numbers, and '
            '"tokens" at least 1. Leave out unknown values.'
        )
    if 'score' not in value:
        return Candidate(value['text'], GIVEN_CANDIDATE)
    mean = float(score) / int(tokens)
    return Candidate(value['text'], GIVEN_CANDIDATE, float(score), mean)
