"""
Reads the records to score from JSON lines, csv, tsv, Parquet or ParlAI world logs, one
at a time.

A record has ``knowledge`` and ``response``, and may have ``history`` (a list of turns)
and ``id``; other fields pass through to the output. A bad record does not stop reading:
it gives a :class:`~parlai_q2.errors.RecordError` in its place. Reading stops early only
if a csv or tsv file can no longer be split into rows; the last error then says so.
"""

import json
from typing import Any, Iterator, Mapping, NamedTuple, Optional, Union

from parlai_q2.errors import InputError, RecordError, place_of
from parlai_q2.io.fields import NO_NAMES, renamed, tell_unread
from parlai_q2.io.formats import (
    READERS,
    Format,
    Line,
    format_of,
    json_objects,
    open_text,
)
from parlai_q2.io.locations import Location, located
from parlai_q2.io.parquet import is_parquet, parquet_rows
from parlai_q2.turns import Example, Passage, passages_of


class Record(NamedTuple):
    """
    One record of a file: all its fields, and the example to score or the error.

    :param line: its line number, from 1; in csv, the line it begins on.
    :param read: how many bytes of the file have been read so far, including what is
        buffered; used to show progress.
    :param nulled: the fields that had NaN or Infinity, and have null now.
    :param source: the file's name.
    """

    line: int
    fields: dict[str, Any]
    example: Optional[Example]
    error: Optional[RecordError]
    read: int = 0
    nulled: tuple[str, ...] = ()
    source: str = ''

    @property
    def place(self) -> str:
        """Where it stands, for messages: ``pairs.jsonl, line 3``."""
        return place_of(self.source, self.line)

    def without(self, error: RecordError) -> 'Record':
        """The record with an error in place of all that it holds."""
        return self._replace(fields={}, example=None, error=error, nulled=())


def read_records(
    path: Union[str, Location],
    format: Optional[str] = None,
    names: Mapping[str, str] = NO_NAMES,
) -> Iterator[Record]:
    """
    Read the records of a file, in order, without loading the whole file into memory.

    :param format: one of :class:`Format`; by default taken from the file's extension,
        and for JSON lines from the first one, which shows a world log.
    :param names: the names that fields have in the file, by those they are read by.
    :raises InputError: if the file cannot be read at all.
    """
    path = located(path)
    format = format or format_of(path)
    if format == Format.PARQUET:
        for number, fields, nulled, read in parquet_rows(path):
            if number == 1:
                tell_unread(fields, names)
            fields = renamed(fields, names)
            yield _record(path.name, Line(number, fields, None, nulled), read)
        return
    reader = READERS.get(format)
    if reader is None:
        raise InputError(
            f'The format must be one of {", ".join(Format)}, not {format!r}.'
        )
    with open_text(path) as stream:
        first = True
        for line in reader(stream):
            if first and line.value:
                tell_unread(line.value, names)
                first = False
            line = line._replace(value=renamed(line.value, names)) if names else line
            yield _record(path.name, line, stream.buffer.tell())


def read_objects(path: Location) -> Iterator[tuple[Line, int]]:
    """
    The objects of a file of JSON lines or, by its ending, Parquet, each with how many
    bytes of the file were read.

    :raises InputError: if the file cannot be read at all.
    """
    if is_parquet(path):
        for number, fields, nulled, read in parquet_rows(path):
            yield Line(number, fields, None, nulled), read
        return
    with open_text(path) as stream:
        for line in json_objects(stream):
            yield line, stream.buffer.tell()


def example_of(fields: Mapping[str, Any]) -> Example:
    """
    Make an example from a record's fields.

    :param fields: must have ``response``, a text, and ``knowledge``, a text or a list
        of passages: texts, or objects with ``text`` and ``title``.
    :raises InputError: if a field is missing or has the wrong type.
    """
    for name in ('knowledge', 'response'):
        if name not in fields:
            found = ', '.join(sorted(map(str, fields))) or 'none'
            remedy = (
                'A world log is read with --format world_logs.'
                if 'dialog' in fields
                else 'This is a file for: parlai_q2 rerank'
                if isinstance(fields.get('candidates'), list)
                else 'Every record needs "knowledge" and "response"; give "" for a '
                'text that is empty, and --fields for other names.'
            )
            raise InputError(f'has no {name!r} field (fields: {found}). {remedy}')
    knowledge, history = knowledge_of(fields), history_of(fields)
    response = fields['response']
    if not isinstance(response, str):
        raise InputError(
            f"'response' must be a string, not {type(response).__name__} "
            f'({json.dumps(response, default=str)[:40]}).'
        )
    identity = fields.get('id')
    return Example(
        knowledge, response, history, None if identity is None else str(identity)
    )


def knowledge_of(fields: Mapping[str, Any]) -> Union[str, tuple[Passage, ...]]:
    """
    The knowledge of a record: a text, or passages if it is a list.

    :raises InputError: if it is neither, or something in the list is no passage.
    """
    knowledge = fields['knowledge']
    if isinstance(knowledge, str):
        return knowledge
    if isinstance(knowledge, list):
        return passages_of(knowledge)
    raise InputError(
        f"'knowledge' must be a string or a list of passages, not "
        f'{type(knowledge).__name__} ({json.dumps(knowledge, default=str)[:40]}).'
    )


def history_of(fields: Mapping[str, Any]) -> tuple[str, ...]:
    """The previous turns, oldest first; a single text counts as one turn."""
    history = fields.get('history') or []
    if isinstance(history, str):
        history = [history]
    if not isinstance(history, list) or not all(isinstance(t, str) for t in history):
        raise InputError('"history" must be a list of strings, oldest turn first.')
    return tuple(history)


def _record(source: str, line: Line, read: int) -> Record:
    number, fields, problem, nulled, flaw = line
    if problem is None:
        try:
            example = example_of(fields)
            return Record(number, fields, example, None, read, nulled, source)
        except InputError as e:
            problem = str(e)
    error = RecordError(source, number, problem, flaw)
    return Record(number, fields, None, error, read, nulled, source)
