"""
Leaves turns out of an episode without changing what the others come after.

Where a turn goes, the turns after it begin an episode of their own, whose first text
has all that was said before, the turn that went included. ParlAI's models read a
history as its turns joined by line ends, so they read the same text as before (and the
same tokens, where the tokenizer parts words at line ends). ParlAI's own ``flatten``
mutator does this to every turn.
"""

from typing import Any, Mapping, Optional, Sequence

from parlai_q2.filtering.judge import labels_of

# What ParlAI's models put between the turns of a history, unless --delimiter says else.
DELIMITER = '\n'


def split_at_gaps(
    episode: Sequence[Mapping[str, Any]], kept: Sequence[bool]
) -> list[list[dict[str, Any]]]:
    """
    The turns that stay, as episodes.

    :param episode: an episode's messages.
    :param kept: which of them stay.
    :return: copies of the messages that stay, in order, in one or more episodes; none
        where nothing stays. ``episode_done`` is left out.
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
    """
    A message whose text also has what was said before it.
    """
    copy = dict(message)
    if before:
        copy['text'] = DELIMITER.join([*before, str(message.get('text') or '')])
    return copy


def said_in(message: Mapping[str, Any]) -> list[str]:
    """
    What a turn adds to the history: its text, and its first label.
    """
    text = message.get('text')
    return [*([] if text is None else [str(text)]), *labels_of(message)[:1]]
