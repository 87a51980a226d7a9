"""
A turn of a dialogue whose response people have annotated, whatever set it is from.
"""

from dataclasses import dataclass, field
from typing import Any, Mapping


@dataclass(frozen=True)
class AnnotatedTurn:
    """
    One turn with an annotated response.

    :param text: the person's message; empty where the system opened.
    :param topic: what the conversation is about.
    :param knowledge: the sentence that the response should stay with.
    :param passage: all sentences that were shown, ``knowledge`` among them.
    :param gold: a person's reply; empty where there is none.
    :param response: the annotated response.
    :param label: the annotators' word for it.
    :param episode: turns of the same name that follow each other are a conversation.
    :param more: further JSON-safe fields for the message.
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
