"""
Removes turns from an episode while every other turn keeps its history.

Where a turn is removed, the turns after it become an episode of their own. The first
text of that episode has all that was said before it, including the removed turn.
ParlAI's models read a history as its turns joined by newlines, so they read the same
text as before (and the same tokens, if the tokenizer splits words at newlines).
ParlAI's own ``flatten`` mutator does this to every turn.
"""

from typing import Any, Mapping, Optional, Sequence

from parlai_q2.filtering.judge import labels_of

# What ParlAI's models put between the turns of a history by default (--delimiter).
DELIMITER = '\n'


def split_at_gaps(
    episode: Sequence[Mapping[str, Any]], kept: Sequence[bool]
) -> list[list[dict[str, Any]]]:
    """
    Split an episode into episodes of the turns that are kept.

    :return: copies of the kept messages, in order, in one or more episodes; empty if no
        message is kept. ``episode_done`` is left out.
    """
    episodes: list[list[dict[str, Any]]] = []
    current: Optional[list[dict[str, Any]]] = None
    before: list[str] = []
    for message, stays in zip(episode, kept, strict=True):
        if not stays:
            current = None
        else:
            copy = {k: v for k, v in message.items() if k != 'episode_done'}
            if current is None:
                current = []
                episodes.append(current)
                copy = with_history(copy, before)
            current.append(copy)
        before += said_in(message)
    return episodes


def with_history(message: Mapping[str, Any], before: Sequence[str]) -> dict[str, Any]:
    """A copy of a message, with what was said before it in front of its text."""
    copy = dict(message)
    if before:
        copy['text'] = DELIMITER.join([*before, str(message.get('text') or '')])
    return copy


def said_in(message: Mapping[str, Any]) -> list[str]:
    """What a turn adds to the history: its text, and its first label."""
    text = message.get('text')
    return [*([] if text is None else [str(text)]), *labels_of(message)[:1]]
