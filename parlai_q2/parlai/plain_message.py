"""Makes messages of fields that may have words of our enums."""

from collections.abc import Mapping
from enum import Enum
from typing import Any

from parlai.core.message import Message


def plain_message(fields: Mapping[str, Any]) -> Message:
    """A message of plain text: ParlAI's tests write YAML, which knows no enums."""
    return Message({name: _plain(value) for name, value in fields.items()})


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return str(value)
    if type(value) in (list, tuple):
        return type(value)(map(_plain, value))
    return value
