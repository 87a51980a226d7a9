"""
Messages that models can read.
"""

from typing import Any

from parlai.core.message import Message

from parlai_q2.records import without_surrogates


def readable(message: Message) -> Message:
    """
    A message without halves of surrogate pairs, which terminals and JSON can send and
    tokenizers refuse.

    :param message: any; it is not changed.
    :return: the same message, or a copy with other texts.
    """
    other = {
        name: mended
        for name, value in message.items()
        # What is no text stays itself; a tensor is not to be compared.
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
