"""
Reads records from JSON lines, CSV, TSV, Parquet or ParlAI world logs, one at a time,
and the conversations of a file.

A record has ``knowledge`` and ``response``, and may have ``history`` (a list of turns)
and ``id``; other fields pass through to the output. A bad record does not stop reading:
it has a :class:`~parlai_q2.errors.RecordError` in its place.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from parlai_q2.claims import Kind
from parlai_q2.errors import InputError, RecordError, describe_line
from parlai_q2.io.fields import (
    EXAMPLE_FIELDS,
    NO_NAMES,
    free_name,
    rename_fields,
    report_unread,
)
from parlai_q2.io.files import Location, locate
from parlai_q2.io.formats import (
    FORMAT_BY_SUFFIX,
    READERS,
    Format,
    Line,
    infer_format,
    is_conversation,
    json_lines,
    open_text,
)
from parlai_q2.io.parquet import read_rows
from parlai_q2.json_values import JsonMapping, JsonObject, read_json
from parlai_q2.text.messages import is_message, reply_text, visible_text
from parlai_q2.turns import Example, Passage, as_field, passages_of

# A chunk for one call of a scorer ends early when its texts have this many characters.
# A killed run loses the chunks in progress, which must not take minutes.
CHUNK_CHARACTERS = 128 * 1024
# The formats whose cells hold one text each, and the fields that may be lists.
TABLES = (Format.CSV, Format.TSV)
LISTS = ('knowledge', 'history', 'candidates')
NO_CONVERSATION = (
    'has no "dialog" list, as ParlAI writes it, and is no record of "knowledge", '
    '"history" and "response".'
)


@dataclass(frozen=True)
class Record:
    """
    One record of a file: all its fields, or the error.

    :param line: its line number, from 1; in CSV, the line it begins on.
    :param parsed: the example or the pool that the fields describe; None if they are
        bad.
    :param read: the bytes of the file read up to it.
    :param nulled: the fields that had NaN or Infinity, which are null now.
    :param source: the file's name.
    """

    line: int
    fields: JsonObject
    parsed: Any = None
    error: RecordError | None = None
    read: int = 0
    nulled: tuple[str, ...] = ()
    source: str = ''

    @property
    def place(self) -> str:
        """Its place, for messages: ``pairs.jsonl, line 3``."""
        return describe_line(self.source, self.line)


def read_records(
    path: str | Location,
    format: str | None = None,
    names: Mapping[str, str] = NO_NAMES,
    expected: Collection[str] = EXAMPLE_FIELDS,
) -> Iterator[Record]:
    """
    Read the records of a file, in order, without loading the whole file into memory.

    :param format: one of :class:`Format`; by default taken from the file's extension,
        and for JSON lines from the first one, which shows a world log.
    :param names: the names that fields have in the file, by those they are read by.
    :param expected: fields of which a file without them gets a note.
    :raises InputError: if the file cannot be read at all.
    """
    return parse_lines(locate(path), format, names, expected, read_example)


def read_valid(
    path: str | Location,
    format: str | None = None,
    names: Mapping[str, str] = NO_NAMES,
    expected: Collection[str] = EXAMPLE_FIELDS,
) -> Iterator[tuple[Record, Example]]:
    """
    Yield each record with its example; raise a RecordError for the first bad one. The
    ``label`` of a scored line is the person's.
    """
    for record in read_records(path, format, names, expected):
        if record.error is not None:
            raise record.error
        fields = record.fields
        is_named = names.get('label', 'label') != 'label' and names['label'] in fields
        if fields.get('kind') == Kind.SCORE and not is_named:
            fields['label'] = fields.get('given_label')
        yield record, record.parsed


def parse_lines(
    path: Location,
    format: str | None,
    names: Mapping[str, str],
    expected: Collection[str],
    parse: Callable[[JsonObject], object],
) -> Iterator[Record]:
    """Read the records of a file as :func:`read_lines` does, and parse their fields."""
    for line in read_lines(path, format, names, expected):
        fields, parsed, error = line.value, None, None
        try:
            if line.problem is not None:
                raise InputError(line.problem)
            fields = read_messages(fields)
            parsed = parse(fields)
        except InputError as e:
            error = RecordError(path.name, line.number, str(e), line.flaw)
        yield Record(
            line.number,
            fields,
            parsed,
            error,
            read=line.read,
            nulled=line.nulled,
            source=path.name,
        )


def read_lines(
    path: Location,
    format: str | None = None,
    names: Mapping[str, str] = NO_NAMES,
    expected: Collection[str] = (),
) -> Iterator[Line]:
    """
    Read the objects of a file of any format; warn of unread fields that look expected.
    """
    format = format or infer_format(path)
    if format not in tuple(Format):
        raise InputError(
            f'The format must be one of {", ".join(Format)}, not {format!r}.'
        )
    first = True
    for line in _read_any(path, format):
        if first and line.value and expected:
            report_unread(line.value, names, expected)
            first = False
        if names:
            line = line._replace(value=rename_fields(line.value, names))
        yield _read_cells(line) if format in TABLES else line


def _read_cells(line: Line) -> Line:
    """Read JSON lists in those cells of a table's row that may have a list."""
    lists, nulled = JsonObject(), list[str]()
    for name in LISTS:
        text = line.value.get(name)
        if isinstance(text, str) and text.lstrip().startswith('['):
            with suppress(ValueError, RecursionError):
                lists[name], names = read_json(text)
                nulled += [f'{name}.{inner}' if inner else name for inner in names]
    return line._replace(value={**line.value, **lists}, nulled=tuple(nulled))


def _read_any(path: Location, format: str) -> Iterator[Line]:
    if format == Format.PARQUET:
        for number, fields, nulled, read in read_rows(path):
            yield Line(number, fields, nulled=nulled, read=read)
        return
    with open_text(path) as stream:
        # For a pipe, the bytes read are not known.
        buffer = stream.buffer if stream.buffer.seekable() else None
        for line in READERS[format](stream):
            yield line._replace(read=buffer.tell() if buffer else 0)


def read_messages(fields: JsonMapping) -> JsonObject:
    """
    Convert messages of the chat-completions protocol in a record to the texts that
    people see (:mod:`~parlai_q2.text.messages`), without thoughts. A replaced value is
    kept as ``given_response`` or the like, because offsets refer to the scored text.

    >>> read_messages({'response': '<think>Two?</think>Five.'})['response']
    'Five.'
    """
    texts: JsonObject = {}
    response = fields.get('response')
    if isinstance(response, str) or is_message(response):
        texts['response'] = reply_text(response)
    for name, read in (('candidates', reply_text), ('history', visible_text)):
        values = fields.get(name)
        if isinstance(values, list):
            texts[name] = [_read_text(value, read) for value in values]
    changed = {name: text for name, text in texts.items() if text != fields[name]}
    originals = {free_name(name, fields): fields[name] for name in changed}
    return {**fields, **changed, **originals}


def _read_text(value: Any, read: Callable[[Any], str]) -> Any:
    """Read the text of a message, or give a candidate the text that people see."""
    if isinstance(value, str) or is_message(value):
        return read(value)
    if isinstance(value, dict) and isinstance(value.get('text'), str):
        return {**value, 'text': read(value['text'])}
    return value


def read_example(fields: JsonMapping) -> Example:
    """
    Make an example from a record's fields; an InputError names a wrong or missing one.
    """
    remedy = ''
    if 'dialog' in fields:
        remedy = 'A world log is read with --format world_logs.'
    elif isinstance(fields.get('candidates'), list):
        remedy = 'This is a file for: parlai_q2 rerank'
    for name in ('knowledge', 'response'):
        require(name, fields, remedy)
    knowledge, history = knowledge_of(fields), read_history(fields)
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


def require(name: str, fields: JsonMapping, remedy: str = '') -> None:
    """Check that a record has a field; otherwise an InputError names the remedy."""
    if name not in fields:
        names = ', '.join(sorted(map(str, fields))) or 'none'
        remedy = remedy or (
            f'Every record needs "{name}", or "" for a text that is empty. Commands '
            'take other names with --fields.'
        )
        raise InputError(f'has no {name!r} field (fields: {names}). {remedy}')


def knowledge_of(fields: JsonMapping) -> str | tuple[Passage, ...]:
    """Read the knowledge of a record: a text, or passages if it is a list."""
    knowledge = fields['knowledge']
    if isinstance(knowledge, str):
        return knowledge
    if isinstance(knowledge, list):
        return passages_of(knowledge)
    raise InputError(
        f"'knowledge' must be a string or a list of passages, not "
        f'{type(knowledge).__name__} ({json.dumps(knowledge, default=str)[:40]}).'
    )


def read_history(fields: JsonMapping) -> tuple[str, ...]:
    """Read the previous turns, oldest first; a single text counts as one turn."""
    history = fields.get('history') or []
    if isinstance(history, str):
        history = [history]
    if not isinstance(history, list) or not all(isinstance(t, str) for t in history):
        raise InputError('"history" must be a list of strings, oldest turn first.')
    return tuple(history)


def read_conversations(
    path: Path, names: Mapping[str, str] = NO_NAMES
) -> Iterator[list[JsonObject] | RecordError]:
    """
    Yield the messages of each conversation of a file: JSON lines in ParlAI's format, or
    records as :func:`read_records` reads them. A bad line yields an error in its place.
    """
    is_first = True
    for number, value, problem, *_ in _conversation_lines(path, names):
        if problem or not isinstance(value, dict) or not value:
            yield RecordError(path.name, number, problem or NO_CONVERSATION)
            continue
        dialog = value.get('dialog')
        if 'dialog' in value and not isinstance(dialog, list):
            yield RecordError(path.name, number, NO_CONVERSATION)
            continue
        if not is_conversation(value):
            if is_first:
                report_unread(value, names)
                is_first = False
            try:
                yield _one_turn(read_example(read_messages(value)))
            except InputError as e:
                yield RecordError(path.name, number, f'{NO_CONVERSATION} It {e}')
            continue
        turns = (turn for turn in dialog or () if isinstance(turn, list))
        messages = list(chain.from_iterable(turns))
        if all(isinstance(m, dict) for m in messages):
            yield messages
        else:
            problem = 'has a "dialog" with something other than messages.'
            yield RecordError(path.name, number, problem)


def _conversation_lines(path: Path, names: Mapping[str, str]) -> Iterator[Line]:
    """The lines of a file, of which one in ParlAI's format is a whole conversation."""
    format = FORMAT_BY_SUFFIX.get(path.suffix.lower(), Format.JSONL)
    if format != Format.JSONL:
        yield from read_lines(path, format, names)
        return
    with open_text(path) as stream:
        for line in json_lines(stream):
            if isinstance(line.value, dict):
                line = line._replace(value=rename_fields(line.value, names))
            yield line


def _one_turn(example: Example) -> list[JsonObject]:
    """The turns before a record's reply, with its knowledge, and the reply."""
    question = {
        'id': 'person',
        'text': '\n'.join(example.history),
        'knowledge': as_field(example.knowledge),
    }
    if example.id is not None:
        question['turn_id'] = example.id
    return [question, {'id': 'model', 'text': example.response}]
