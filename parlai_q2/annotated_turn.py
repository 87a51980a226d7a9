"""
One dialogue turn with a human-annotated response, in a form shared by all data sets.
"""

from dataclasses import dataclass, field
from typing import Any, Mapping


@dataclass(frozen=True)
class AnnotatedTurn:
    """
    One turn with an annotated response.

    :param text: the person's message; empty if the system opened the conversation.
    :param topic: what the conversation is about.
    :param knowledge: the sentence that should support the response.
    :param passage: all sentences that were shown, including ``knowledge``.
    :param gold: a human reply; empty if there is none.
    :param response: the annotated response.
    :param label: the label that the annotators gave it.
    :param episode: consecutive turns with the same episode form one conversation.
    :param more: additional JSON-safe fields for the message.
    """

    text: str
    topic: str
    knowledge: str
    passage: tuple[str, ...]
    gold: str
    response: str
    label: str
    episode: str
    more: Mapping[str, Any] = field(default_factory=dict)
