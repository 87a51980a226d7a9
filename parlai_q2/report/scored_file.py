"""
Reads scored records from the output of ``parlai_q2 score`` or ``parlai_q2 rerank``, or
from ParlAI world logs.

Messages of world logs have ``q2_evidence`` (what the Q2 teacher found) or ``rerank``
(what the reranking agent chose from); ranked pools have ``rerank``, too.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from io import TextIOWrapper

from parlai_q2.errors import InputError, RecordError
from parlai_q2.io.files import Location, Stdin, shards_in
from parlai_q2.io.formats import Format, is_conversation
from parlai_q2.io.parquet import is_parquet
from parlai_q2.io.read import Record, read_records
from parlai_q2.output_records import Judged, read_line, read_logged_turn
from parlai_q2.report.entries import Entry, make_entry, person_label
from parlai_q2.text.visible import one_line


def read_scored_file(
    path: Location, label: str = '', fields: Sequence[str] = ()
) -> Iterator[Entry | RecordError]:
    """
    Read the entries of a file, in order, with the values of further fields in
    ``fields``, and with a person's label in the named one. A bad record gives an error
    in its place.
    """
    for record, place in read_scored(path):
        if record.error is not None:
            yield record.error
            continue
        judged: Judged = record.parsed
        annotation = person_label(record.fields, label)
        if annotation or label:
            judged = replace(judged, annotation=annotation)
        try:
            entry = make_entry(judged, place)
        except InputError as e:
            yield RecordError(record.source, record.line, str(e))
            continue
        if fields:
            values = {name: record.fields.get(name) for name in fields}
            entry['fields'] = {
                name: '' if value is None else one_line(str(value))
                for name, value in values.items()
            }
        yield entry


def read_scored(path: Location) -> Iterator[tuple[Record, int]]:
    """
    Read the scored records or conversations of a file, or of a folder with the manifest
    that a run wrote: each with its response and its score, which has the signature, and
    with its place in the file or folder, from 1.
    """
    if isinstance(path, Stdin):
        raise InputError(
            'Scores are read from files, not from the standard input. Save them first.'
        )
    if path.is_dir():
        before = 0
        for shard in shards_in(path):
            for record, place in read_scored(shard):
                yield record, before + place
            before += place
        return
    if not path.is_file():
        raise InputError(
            f'There is no file {path}. Give a file that parlai_q2 score wrote.'
        )
    parquet = is_parquet(path)
    logs = not parquet and holds_conversations(path)
    format = Format.PARQUET if parquet else Format.WORLD_LOGS if logs else Format.JSONL
    signature, place = '', 0
    for place, record in enumerate(read_records(path, format), 1):
        parsed, error = None, None
        try:
            if record.error is not None and (logs or not record.fields):
                raise record.error
            if not logs:
                _check_scored(record)
            judged = (read_logged_turn if logs else read_line)(record.fields)
            # The score command writes the signature once, in the first scored line.
            signature = judged.score.signature or signature
            parsed = replace(judged, score=replace(judged.score, signature=signature))
        except RecordError as e:
            error = e
        except InputError as e:
            error = RecordError(path.name, record.line, str(e))
        yield replace(record, parsed=parsed, error=error), place
    if not place:
        raise InputError(
            f'{path} holds no record. Score some responses first: '
            'parlai_q2 score --infile pairs.jsonl --outfile scores.jsonl'
        )


def _check_scored(record: Record) -> None:
    """An InputError if a record is as it was before it was scored or ranked."""
    if {'score', 'rerank', 'error'} & record.fields.keys():
        return
    for field, command in (('response', 'score'), ('candidates', 'rerank')):
        if field in record.fields:
            raise InputError(
                f'it has no scores. Make them first: parlai_q2 {command} --infile '
                f'{record.source} --outfile scores.jsonl'
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
                return is_conversation(value)
    return False
