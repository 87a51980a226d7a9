"""Makes messages readable for models."""

from typing import Any

from parlai.core.message import Message

from parlai_q2.turns import without_surrogates


def readable(message: Message) -> Message:
    """
    The message, or a mended copy if it has lone surrogates, which terminals and JSON
    can send but tokenizers reject.
    """
    other = {
        name: mended
        for name, value in message.items()
        # Anything but text is returned as it is, and a tensor must not be compared.
        if (mended := _mended(value)) is not value and mended != value
    }
    return Message({**message, **other}) if other else message


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return without_surrogates(value)
    # Labels and candidates.
    if type(value) in (list, tuple) and all(isinstance(v, str) for v in value):
        return type(value)(map(without_surrogates, value))
    return value
