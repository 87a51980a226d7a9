"""
Converts judged turns to ParlAI's conversation format, one JSON object an episode.

ParlAI's ``jsonfile`` teacher can train on such a file: the second speaker's texts are
the labels. The first speaker's message keeps its fields, including the knowledge; the
second speaker's message has the score.
"""

import json
from typing import Any, Iterable, Mapping, Sequence

from parlai_q2.filtering.history import split_at_gaps
from parlai_q2.filtering.judge import JudgedEpisode, JudgedTurn

LABELLED_BY = 'label'
# The jsonfile teacher ignores candidates, which would make a file many times as large.
LEFT_OUT = ('label_candidates', 'eval_labels', 'metrics')


def conversations(
    episode: JudgedEpisode,
    kept: bool = True,
    left_out: Sequence[str] = LEFT_OUT,
) -> list[dict[str, Any]]:
    """
    The conversations that are kept of an episode, or those that are dropped.

    :param kept: True gives the kept turns, in conversations as long as possible; False
        gives the dropped turns, each as a conversation of its own.
    :param left_out: fields of messages that are not written.
    :return: conversations in order; each begins with all that was said before it.
    """
    messages = [turn.message for turn in episode]
    chosen = [turn.decision.kept is kept for turn in episode]
    wanted = [turn for turn, is_chosen in zip(episode, chosen) if is_chosen]
    parts = split_at_gaps(messages, chosen)
    if not kept:
        parts = [
            split_at_gaps(messages, [n == place for n in range(len(episode))])[0]
            for place, is_chosen in enumerate(chosen)
            if is_chosen
        ]
    turns = iter(wanted)
    return [
        conversation([(message, next(turns)) for message in part], left_out)
        for part in parts
    ]


def conversation(
    turns: Iterable[tuple[Mapping[str, Any], JudgedTurn]],
    left_out: Sequence[str] = LEFT_OUT,
) -> dict[str, Any]:
    """
    One conversation in ParlAI's format.

    :param turns: at least one turn, as the message to write and the judged turn.
    """
    pairs = [
        [_asked(message, turn, left_out), _answered(turn)] for message, turn in turns
    ]
    for act in pairs[-1]:
        act['episode_done'] = True
    return {'dialog': pairs, 'context': []}


def _asked(
    message: Mapping[str, Any], turn: JudgedTurn, left_out: Sequence[str]
) -> dict[str, Any]:
    fields = {k: v for k, v in message.items() if k not in left_out and is_json(v)}
    return {
        **fields,
        'id': str(message.get('id') or 'teacher'),
        'text': str(message.get('text') or ''),
        # Readers of the file find the knowledge here, wherever the task keeps it.
        **({} if 'knowledge' in fields else {'knowledge': turn.knowledge}),
        'labels': turn.kept_labels or [label.text for label in turn.labels],
        'episode_done': False,
    }


def _answered(turn: JudgedTurn) -> dict[str, Any]:
    shown = turn.shown
    act: dict[str, Any] = {
        'id': LABELLED_BY,
        'text': shown.text if shown else '',
        'q2_kept': turn.decision.kept,
        'q2_reason': turn.decision.reason,
        'episode_done': False,
    }
    if shown and shown.score:
        evidence = shown.score.to_dict()
        # The metadata has the signature, which is the same for all of them.
        evidence.pop('signature')
        act['q2_score'] = shown.score.value
        act['q2_evidence'] = evidence
    return act


def is_json(value: Any) -> bool:
    """Whether a value can be written as JSON; an image or a tensor cannot."""
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return False
    return True
