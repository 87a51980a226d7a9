"""
Reads records to be scored from JSON lines, csv, tsv or ParlAI world logs, one at a
time.

A record has ``knowledge`` and ``response``, and may have ``history`` (a list of turns)
and ``id``; other fields pass through. A bad record does not stop the reading: it comes
out as a :class:`~parlai_q2.errors.RecordError` in its place.
"""

import csv
import json
from pathlib import Path
from typing import (
    Any,
    Callable,
    Iterator,
    Mapping,
    NamedTuple,
    Optional,
    TextIO,
    Union,
)

from parlai_q2.errors import InputError, RecordError
from parlai_q2.records import Example

# A csv cell may hold a long passage; Python's own limit is 128 kB.
CSV_FIELD_LIMIT = 16 * 1024 * 1024
# Fields of a world log that pass through: evidence, and a human's judgement.
FROM_MODEL = ('q2_evidence', 'rerank', 'rerank_knowledge', 'rerank_signature')
FROM_TEACHER = ('q2_label',)
FORMATS = ('jsonl', 'csv', 'tsv', 'world_logs')


class Record(NamedTuple):
    """
    One record of a file, or what is wrong with it.

    :param line: where it stands, from 1; of csv, the line it begins on.
    :param fields: all its fields, as they were.
    :param example: what to score; None when it is bad.
    :param error: what is wrong; None when it is good.
    :param read: bytes of the file that were read to get it, a buffer ahead; for
        progress.
    """

    line: int
    fields: dict[str, Any]
    example: Optional[Example]
    error: Optional[RecordError]
    read: int = 0


def read_records(
    path: Union[str, Path], format: Optional[str] = None
) -> Iterator[Record]:
    """
    The records of a file, in order; the file is never held in memory as a whole.

    :param path: the file.
    :param format: one of :data:`FORMATS`; by default the file's ending says it.
    :raises InputError: when the file cannot be read at all.
    """
    path = Path(path)
    format = format or format_of(path)
    if format not in READERS:
        raise InputError(f'The format is one of {", ".join(FORMATS)}, not {format!r}.')
    with open_text(path) as stream:
        for line, fields, problem in READERS[format](stream):
            yield _record(path.name, line, fields, problem, stream.buffer.tell())


def open_text(path: Path) -> TextIO:
    """
    A file's text; undecodable bytes are kept as escapes and spoil no neighbour.

    :raises InputError: when the file cannot be read.
    """
    try:
        return open(path, encoding='utf-8-sig', errors='backslashreplace', newline='')
    except OSError as e:
        raise InputError(f'Cannot read {path}: {e.strerror}. Check --infile.') from e


def format_of(path: Path) -> str:
    """
    A file's format by its ending.

    :raises InputError: for an ending that says nothing.
    """
    ending = path.suffix.lower().lstrip('.')
    if ending in ('jsonl', 'json', 'ndjson'):
        return 'jsonl'
    if ending in ('csv', 'tsv'):
        return ending
    raise InputError(
        f'{path.name}: cannot tell the format from the ending. Name it .jsonl, .csv or '
        '.tsv, or give --format.'
    )


def example_of(fields: Mapping[str, Any]) -> Example:
    """
    The example that a record's fields describe.

    :param fields: with ``knowledge`` and ``response``, texts or (knowledge) lists of
        texts.
    :raises InputError: when a field is missing or of another type.
    """
    for name in ('knowledge', 'response'):
        if name not in fields:
            found = ', '.join(sorted(map(str, fields))) or 'none'
            raise InputError(
                f'has no {name!r} field (fields: {found}). Every record needs '
                '"knowledge" and "response"; give "" for a text that is empty.'
            )
    knowledge = joined(fields['knowledge'])
    history = history_of(fields)
    for name, value in (('knowledge', knowledge), ('response', fields['response'])):
        if not isinstance(value, str):
            raise InputError(
                f'{name!r} must be a string, not {type(value).__name__} '
                f'({json.dumps(value, default=str)[:40]}).'
            )
    identity = fields.get('id')
    return Example(
        knowledge,
        fields['response'],
        history,
        None if identity is None else str(identity),
    )


def joined(knowledge: Any) -> Any:
    """
    Several sentences of knowledge as one text; anything else as it is.
    """
    if isinstance(knowledge, list) and all(isinstance(k, str) for k in knowledge):
        return '\n'.join(knowledge)
    return knowledge


def history_of(fields: Mapping[str, Any]) -> tuple[str, ...]:
    """
    The turns before, oldest first; one text is one turn.

    :raises InputError: when they are no texts.
    """
    history = fields.get('history') or []
    if isinstance(history, str):
        history = [history]
    if not isinstance(history, list) or not all(isinstance(t, str) for t in history):
        raise InputError('"history" must be a list of strings, oldest turn first.')
    return tuple(history)


Parsed = tuple[int, dict[str, Any], Optional[str]]


def _record(
    source: str, line: int, fields: dict[str, Any], problem: Optional[str], read: int
) -> Record:
    if problem is None:
        try:
            return Record(line, fields, example_of(fields), None, read)
        except InputError as e:
            problem = str(e)
    return Record(line, fields, None, RecordError(source, line, problem), read)


def json_lines(stream: TextIO) -> Iterator[tuple[int, Any, Optional[str]]]:
    """
    Line number, value and what is wrong, for each line that is not blank.
    """
    for number, line in enumerate(stream, start=1):
        if not line.strip():
            continue
        try:
            yield number, json.loads(line), None
        except (json.JSONDecodeError, RecursionError) as e:
            yield number, None, f'is not JSON ({e}). Write one JSON object a line.'


def _read_jsonl(stream: TextIO) -> Iterator[Parsed]:
    for number, value, problem in json_lines(stream):
        if problem is None and not isinstance(value, dict):
            problem = f'is a JSON {type(value).__name__}, not an object with fields.'
        yield number, value if isinstance(value, dict) else {}, problem


def _read_delimited(delimiter: str) -> Callable[[TextIO], Iterator[Parsed]]:
    def read(stream: TextIO) -> Iterator[Parsed]:
        csv.field_size_limit(CSV_FIELD_LIMIT)
        # The csv module stops at a null byte in some versions; the text stays the same.
        lines = (line.replace('\0', '\ufffd') for line in stream)
        rows = csv.DictReader(lines, delimiter=delimiter)
        end = 1
        while True:
            start = end + 1
            try:
                row = next(rows)
            except StopIteration:
                return
            except csv.Error as e:
                yield start, {}, f'cannot be read as {delimiter!r}-separated: {e}.'
                return
            end = rows.line_num
            extra = row.pop(None, None)
            fields = {k: v for k, v in row.items() if v is not None}
            problem = None
            if extra:
                count = len(rows.fieldnames or ())
                problem = (
                    f'has {count + len(extra)} columns, and the header has {count}. '
                    'Quote texts that hold the separator.'
                )
            yield start, fields, problem

    return read


def _read_world_logs(stream: TextIO) -> Iterator[Parsed]:
    for number, value, problem in json_lines(stream):
        dialog = value.get('dialog') if isinstance(value, dict) else None
        if problem or not isinstance(dialog, list):
            problem = problem or 'has no "dialog" list; is it a ParlAI world log?'
            yield number, {}, problem
            continue
        history: list[str] = []
        for turn, parley in enumerate(dialog):
            for fields in _turns(parley, history):
                yield number, {'id': f'{number}.{turn}', **fields}, None


def _turns(parley: Any, history: list[str]) -> Iterator[dict[str, Any]]:
    from parlai_q2.files.messages import find_knowledge

    said = parley if isinstance(parley, list) else []
    acts = [act for act in said if isinstance(act, dict)]
    if len(acts) < 2:
        return
    teacher, model = acts[0], acts[1]
    history.append(str(teacher.get('text', '')))
    response = str(model.get('text', ''))
    fields = {
        'knowledge': find_knowledge(teacher) or '',
        'response': response,
        'history': list(history),
        **{k: model[k] for k in FROM_MODEL if k in model},
        **{k: teacher[k] for k in FROM_TEACHER if k in teacher},
    }
    if 'turn_id' in teacher:
        fields['id'] = teacher['turn_id']
    yield fields
    history.append(response)


READERS: dict[str, Callable[[TextIO], Iterator[Parsed]]] = {
    'jsonl': _read_jsonl,
    'csv': _read_delimited(','),
    'tsv': _read_delimited('\t'),
    'world_logs': _read_world_logs,
}
