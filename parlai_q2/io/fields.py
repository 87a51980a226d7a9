"""
The names of a record's fields: other names for those that are read, and fields that
look as if they were meant to be read.
"""

import csv
import json
import logging
from collections.abc import Collection, Mapping
from itertools import product
from types import MappingProxyType

from parlai_q2.errors import ConfigError
from parlai_q2.json_values import JsonMapping, JsonObject

# The fields that scorers and rerankers read, each with its other common names.
ALIASES = {
    'knowledge': ('context', 'document', 'evidence_text', 'passage', 'source'),
    'history': (
        *('conversation', 'dialogue', 'input', 'message', 'messages', 'prompt'),
        *('query', 'question', 'turns'),
    ),
    'response': ('answer', 'completion', 'generated', 'output', 'prediction', 'reply'),
    'candidates': ('answers', 'completions', 'generations', 'outputs', 'replies'),
    'id': (),
    'label': (),
}
# The default: every field has its own name.
NO_NAMES: Mapping[str, str] = MappingProxyType({})
# The fields of a record to score, and of a pool of candidates.
EXAMPLE_FIELDS = ('knowledge', 'history', 'response', 'id')
POOL_FIELDS = ('knowledge', 'history', 'candidates', 'id')
NOT_READ = (
    'Not read: {names}. To read it as {fields}: --fields {option}. Without that, it is '
    'only copied to the output.'
)
WRONG_FIELDS = (
    '--fields takes pairs such as history=question, each of {} once, not {!r}. Quote a '
    'pair whose name has a comma: --fields \'"knowledge=Context, long"\''
)

_logger = logging.getLogger(__name__)


def read_fields(text: str | None) -> dict[str, str]:
    """
    Parse the value of ``--fields``.

    :return: for each field, its name in the file.
    :raises ConfigError: if the value has another form.

    >>> read_fields('history=question,"knowledge=Context, long"')
    {'history': 'question', 'knowledge': 'Context, long'}
    """
    names: dict[str, str] = {}
    (pairs,) = csv.reader([text or ''], skipinitialspace=True) if text else ([],)
    for pair in filter(str.strip, pairs):
        field, equals, name = (part.strip() for part in pair.partition('='))
        if not equals or field not in ALIASES or not name or field in names:
            raise ConfigError(WRONG_FIELDS.format(', '.join(ALIASES), pair))
        names[field] = name
    return names


def rename_fields(fields: JsonMapping, names: Mapping[str, str]) -> JsonObject:
    """
    Add to a record the fields that have another name in the file, under our name. A
    field that already had our name is kept with ``given_`` before it.

    >>> rename_fields({'answer': 'Five.', 'response': 200}, {'response': 'answer'})
    {'answer': 'Five.', 'response': 'Five.', 'given_response': 200}
    """
    renamed = dict(fields)
    for field, name in names.items():
        if name in fields:
            if field in fields and field != name:
                renamed[free_name(field, renamed)] = fields[field]
            renamed[field] = fields[name]
    return renamed


def free_name(name: str, fields: Collection[str]) -> str:
    """A free name for a user's field whose name is taken: ``given_`` and that name."""
    name = f'given_{name}'
    while name in fields:
        name = f'given_{name}'
    return name


def report_unread(
    fields: Collection[str],
    names: Mapping[str, str],
    expected: Collection[str] = EXAMPLE_FIELDS,
) -> None:
    """Warn of unread fields in a file's first record that look like expected ones."""
    pairs = []
    for field, name in product(expected, fields):
        is_missing = field not in fields and field not in names
        is_alias = name.lower() in (field, *ALIASES[field])
        if is_missing and is_alias and name not in names.values():
            pairs.append((field, name))
    if pairs:
        option = (f'{field}={name}' for field, name in dict(pairs).items())
        _logger.warning(
            NOT_READ.format(
                names=', '.join(name for _, name in pairs),
                fields=', '.join(field for field, _ in pairs),
                option=','.join(json.dumps(p) if ',' in p else p for p in option),
            )
        )
