"""
The names of a record's fields: other names for those that are read, and fields that
look as if they were meant to be read.
"""

import logging
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any, Optional

from parlai_q2.errors import ConfigError

# The fields that scorers and rerankers read, each with what others call it.
ALIKE = {
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
# Every field has the name that it is read by.
NO_NAMES: Mapping[str, str] = MappingProxyType({})
# What a record of a file to score has, and one of a pool to choose from.
SCORED = ('knowledge', 'history', 'response', 'id')
RANKED = ('knowledge', 'history', 'candidates', 'id')
NOT_READ = (
    'Not read: {found}. If that is the {meant}, say so: --fields {pairs}. It is copied '
    'to the output as it is.'
)

_logger = logging.getLogger(__name__)


def read_fields(text: Optional[str]) -> dict[str, str]:
    """
    Read what ``--fields`` gives: ``history=question,response=answer``.

    :return: for a field that is read, the name that it has in the file.
    :raises ConfigError: if it is anything else.
    """
    found = {}
    for pair in filter(None, (part.strip() for part in (text or '').split(','))):
        name, equals, given = (part.strip() for part in pair.partition('='))
        if not equals or name not in ALIKE or not given or name in found:
            raise ConfigError(
                f'--fields takes pairs such as history=question, each of '
                f'{", ".join(ALIKE)} once, not {pair!r}.'
            )
        found[name] = given
    return found


def renamed(fields: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """A record's fields, those with another name also under the one that is read."""
    more = {name: fields[given] for name, given in names.items() if given in fields}
    return {**fields, **more}


def tell_unread(
    fields: Collection[str], names: Mapping[str, str], read: Collection[str] = SCORED
) -> None:
    """
    Say which fields of a file's first record look as if they should be read.

    :param read: the fields that are read of such a file.
    """
    pairs = [
        (meant, found)
        for meant in read
        if meant not in fields and meant not in names
        for found in fields
        if found.lower() in (meant, *ALIKE[meant]) and found not in names.values()
    ]
    if pairs:
        _logger.warning(
            NOT_READ.format(
                found=', '.join(found for _, found in pairs),
                meant=', '.join(meant for meant, _ in pairs),
                pairs=','.join(
                    f'{meant}={found}' for meant, found in dict(pairs).items()
                ),
            )
        )
