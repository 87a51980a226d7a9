"""Reads the messages that browsers send to the chat, and refuses anything else."""

import json
from http import HTTPStatus
from typing import Any, NoReturn

from parlai_q2.turns import without_surrogates

# The limits of a message and of the knowledge in characters, of a request in bytes.
MAX_TEXT = 8_000
MAX_KNOWLEDGE = 20_000
MAX_REQUEST = 500_000


class RequestError(Exception):
    """Raised for a request that is refused, with a message for the user."""

    def __init__(self, status: HTTPStatus, problem: str):
        self.status = status
        super().__init__(problem)


def read_message(body: bytes) -> tuple[str, str | None]:
    """
    The text of a message, and the knowledge that came with it, or None; both stripped.
    Lone surrogates, which no model can read, are replaced.

    :raises RequestError: if the body is anything else, the text is blank, or either is
        too long.
    """
    message = _object(body, 'text and, optionally, knowledge')
    text = _text(message, 'text', MAX_TEXT)
    if not text:
        _refuse('The message is empty.')
    return text, _text(message, 'knowledge', MAX_KNOWLEDGE)


def read_place(body: bytes) -> tuple[int, int]:
    """The numbers of a turn and of its conversation; RequestError for anything else."""
    message = _object(body, 'number and conversation')
    place = message.get('number'), message.get('conversation')
    if not all(type(value) is int for value in place):
        _refuse('number and conversation must be whole numbers.')
    return place  # type: ignore[return-value]


def _object(body: bytes, fields: str) -> dict[str, Any]:
    try:
        message = json.loads(body.decode('utf-8'))
    except (ValueError, RecursionError):
        message = None
    if not isinstance(message, dict):
        _refuse(f'Send a JSON object with {fields}.')
    return message


def _text(message: dict[str, Any], name: str, most: int) -> Any:
    value = message.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        _refuse(f'{name} must be a string.')
    if len(value) > most:
        _refuse(
            f'The {name} has {len(value):,} characters; at most {most:,} are allowed.'
        )
    return without_surrogates(value).strip()


def _refuse(problem: str) -> NoReturn:
    raise RequestError(HTTPStatus.BAD_REQUEST, problem)
