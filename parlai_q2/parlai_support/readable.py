"""
Messages that models can read.
"""

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
        name: text
        for name, value in message.items()
        if isinstance(value, str) and (text := without_surrogates(value)) != value
    }
    return Message({**message, **other}) if other else message
