"""
Reads conversations from files as ParlAI writes them, or from records, each of which is
a conversation of one turn.
"""

from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from parlai_q2.errors import InputError, RecordError
from parlai_q2.io.fields import NO_NAMES, rename_fields, report_unread
from parlai_q2.io.formats import READERS, infer_format, json_lines, open_text
from parlai_q2.io.knowledge import as_field
from parlai_q2.io.read import read_example, read_messages
from parlai_q2.turns import Example

NO_CONVERSATION = (
    'has no "dialog" list, as ParlAI writes it, and is no record of "knowledge", '
    '"history" and "response".'
)


def read_conversations(
    path: Path, names: Mapping[str, str] = NO_NAMES
) -> Iterator[list[dict[str, Any]] | RecordError]:
    """
    The messages of each conversation of a file, in order: of JSON lines in ParlAI's
    format, or of records as :func:`~parlai_q2.io.read.read_records` reads them. A bad
    line gives an error in its place.

    :param names: as for :func:`~parlai_q2.io.read.read_records`.
    :raises InputError: if the file cannot be read at all.
    """
    with open_text(path) as stream:
        tabular = path.suffix.lower() in ('.csv', '.tsv')
        lines = READERS[infer_format(path)](stream) if tabular else json_lines(stream)
        is_first = True
        for number, value, problem, *_ in lines:
            if problem or not isinstance(value, dict) or not value:
                yield RecordError(path.name, number, problem or NO_CONVERSATION)
                continue
            dialog = value.get('dialog')
            if 'dialog' in value and not isinstance(dialog, list):
                yield RecordError(path.name, number, NO_CONVERSATION)
                continue
            if dialog is None:
                if is_first:
                    report_unread(value, names)
                    is_first = False
                try:
                    fields = read_messages(rename_fields(value, names))
                    yield _one_turn(read_example(fields))
                except InputError as e:
                    yield RecordError(path.name, number, f'{NO_CONVERSATION} It {e}')
                continue
            turns = (turn for turn in dialog if isinstance(turn, list))
            messages = list(chain.from_iterable(turns))
            if all(isinstance(m, dict) for m in messages):
                yield messages
            else:
                problem = 'has a "dialog" with something other than messages.'
                yield RecordError(path.name, number, problem)


def _one_turn(example: Example) -> list[dict[str, Any]]:
    """A record as the turns before the reply, with its knowledge, and the reply."""
    question = {
        'id': 'person',
        'text': '\n'.join(example.history),
        'knowledge': as_field(example.knowledge),
    }
    if example.id is not None:
        question['turn_id'] = example.id
    return [question, {'id': 'model', 'text': example.response}]
