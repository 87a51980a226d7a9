"""
Reads scored records from the output of ``parlai_q2 score`` or ``parlai_q2 rerank``, or
from ParlAI world logs.

Messages of world logs have ``q2_evidence`` (what the Q2 teacher found) or ``rerank``
(what the reranking agent chose from); ranked pools have ``rerank``, too.
"""

import json
from io import TextIOWrapper
from typing import Any, Iterator, Mapping, NamedTuple, Union

from parlai_q2.claims import explained_row, not_verifiable
from parlai_q2.errors import InputError, RecordError
from parlai_q2.io.knowledge import as_field, stripped
from parlai_q2.io.locations import Location
from parlai_q2.io.manifest import shards_in
from parlai_q2.io.parquet import is_parquet
from parlai_q2.io.read import PARQUET, Record, example_of, read_records
from parlai_q2.report.entries import Entry, before_and_after, read_entry

SCORE_FIELDS = ('score', 'label', 'fallback', 'verdicts', 'statements', 'parts')


class Scored(NamedTuple):
    """
    A scored record.

    :param source: its file's name.
    :param line: its line there.
    :param place: its place among the records of its file, from 1.
    :param fields: those that ``parlai_q2 score`` writes, with the signature.
    """

    source: str
    line: int
    place: int
    fields: dict[str, Any]


def read_scored_file(path: Location) -> Iterator[Union[Entry, RecordError]]:
    """
    Read the entries of a file, in order. A bad record gives an error in its place;
    parameters and errors as for :func:`read_scored`.
    """
    for found in read_scored(path):
        if isinstance(found, RecordError):
            yield found
            continue
        try:
            yield read_entry(found.fields, found.place)
        except InputError as e:
            yield RecordError(found.source, found.line, str(e))


def read_scored(path: Location) -> Iterator[Union[Scored, RecordError]]:
    """
    Read the scored records of a file, in order. A bad one gives an error in its place.

    :param path: JSON lines or Parquet of scored records or of reranked pools, or
        conversations; or a folder of such files, with the manifest that a run wrote.
    :raises InputError: when the file cannot be read or has no record.
    """
    if path.is_dir():
        for shard in shards_in(path):
            yield from read_scored(shard)
        return
    if not path.is_file():
        raise InputError(
            f'There is no file {path}. Give a file that parlai_q2 score wrote.'
        )
    parquet = is_parquet(path)
    logs = not parquet and holds_conversations(path)
    format = PARQUET if parquet else 'world_logs' if logs else 'jsonl'
    signature, place = '', 0
    for record in read_records(path, format):
        place += 1
        try:
            fields = _from_log(record) if logs else _from_scores(record)
            # The score command writes the signature once, in the first scored line.
            signature = fields.get('signature') or signature
            fields = {**fields, 'signature': signature}
            yield Scored(path.name, record.line, place, fields)
        except RecordError as e:
            yield e
        except InputError as e:
            yield RecordError(path.name, record.line, str(e))
    if not place:
        raise InputError(
            f'{path} holds no record. Score some responses first: '
            'parlai_q2 score --infile pairs.jsonl --outfile scores.jsonl'
        )


def holds_conversations(path: Location) -> bool:
    """Whether a file is a world log, judging by its first line that is an object."""
    with TextIOWrapper(path.open('rb'), 'utf-8-sig', 'backslashreplace') as stream:
        for line in stream:
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(value, dict):
                return 'dialog' in value
    return False


def _from_scores(record: Record) -> dict[str, Any]:
    fields = record.fields
    # A pool that could not be ranked may have a label of its own.
    failed = 'error' in fields and ('label' not in fields or 'line' in fields)
    if failed and not {'abstained', 'verdicts'} & fields.keys():
        raise InputError(f'it was not scored: {fields["error"]}')
    if 'abstained' in fields and not _scored_again(fields):
        return _from_pool(fields)
    return _with_texts(record)


def _scored_again(fields: Mapping[str, Any]) -> bool:
    # A pool that was made of scored records has verdicts too, on its old response.
    response = fields.get('response')
    return 'verdicts' in fields and fields.get('text', response) == response


def _from_pool(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The record of one reranked pool; other fields of its input are ignored."""
    example = example_of({'knowledge': '', **fields, 'response': fields.get('text')})
    # The reranker stripped the knowledge, and spans are offsets into what it saw.
    passages, rows = stripped(example.knowledge), _rows(fields)
    try:
        given = [fields['candidates'][place] for place in fields['order']]
        rows = [_as_given(*pair) for pair in zip(given, rows, strict=True)]
        (chosen,) = (row for row in rows if row.get('chosen'))
    except (LookupError, TypeError, ValueError) as e:
        raise InputError(
            "'candidates', 'order' and 'rerank' do not match each other. Rerank "
            'the pools again: parlai_q2 rerank'
        ) from e
    pool = {
        'id': example.id,
        'knowledge': as_field(passages),
        'response': example.response,
        'history': list(example.history),
        'rerank': rows,
        'q2_label': None if fields['abstained'] else chosen['q2_label'],
    }
    score = _score_of_choice(pool) if passages else not_verifiable().to_dict()
    return {**pool, **score, 'signature': fields.get('rerank_signature')}


def _as_given(candidate: Any, row: Mapping[str, Any]) -> dict[str, Any]:
    # The row itself has 0 for a missing generator's score.
    said = candidate if isinstance(candidate, Mapping) else {}
    return {**row, 'q2_label': said.get('label'), 'generator_score': said.get('score')}


def _from_log(record: Record) -> dict[str, Any]:
    """The record of one turn of a world log."""
    fields = _with_texts(record)
    evidence = fields.pop('q2_evidence', None)
    fields['rerank'] = _rows(fields)
    if isinstance(evidence, Mapping) and 'score' in evidence:
        return {**fields, **evidence}
    if not any(row.get('chosen') for row in fields['rerank']):
        raise InputError(
            f'turn {fields.get("id")} has neither q2_evidence nor a reranked choice. '
            'Evaluate with a Q2 teacher or the reranking agent, and --world-logs.'
        )
    return {**fields, **_score_of_choice(fields)}


def _rows(fields: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    # A world log has a string in place of a field that could not be written, and an
    # empty field where it was not used.
    rows = fields.get('rerank')
    if isinstance(rows, list) and all(isinstance(row, Mapping) for row in rows):
        return rows
    return []


def _score_of_choice(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The score of what a reranking agent said."""
    _, chosen = before_and_after(fields['rerank'])
    assert chosen is not None
    if chosen.get('score') is None:
        raise InputError(f'turn {fields.get("id")} was reranked without scores')
    if str(chosen.get('text')).strip() != fields['response'].strip():
        # The agent abstained, so there is nothing to verify.
        return not_verifiable().to_dict()
    shown = explained_row(chosen)
    score = {name: shown[name] for name in SCORE_FIELDS if name in shown}
    knowledge = fields.get('rerank_knowledge') or fields['knowledge']
    signature = fields.get('rerank_signature') or ''
    return {**score, 'knowledge': knowledge, 'signature': signature}


def _with_texts(record: Record) -> dict[str, Any]:
    if record.error is not None or record.example is None:
        raise record.error or InputError('cannot be read')
    example = record.example
    return {
        **record.fields,
        'knowledge': list(example.knowledge),
        'response': example.response,
        'history': list(example.history),
    }
