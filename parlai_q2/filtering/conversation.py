"""
Converts judged turns to ParlAI's conversation format, one JSON object an episode, where
the second speaker's texts are the labels. The turns after a removed turn form an
episode of their own, whose first text begins with the whole history. ParlAI's models,
which join a history by newlines, read the same text. Its ``flatten`` mutator does this
to all turns.
"""

import json
from collections.abc import Sequence

from parlai_q2.filtering.judge import JudgedEpisode, JudgedTurn, read_labels
from parlai_q2.io.knowledge import as_text
from parlai_q2.json_values import JsonMapping, JsonObject

LABELLED_BY = 'label'
# The jsonfile teacher ignores candidates, which would make a file many times as large.
LEFT_OUT = ('label_candidates', 'eval_labels', 'metrics')
# What ParlAI's models put between the turns of a history by default (--delimiter).
DELIMITER = '\n'


def conversations(episode: JudgedEpisode, keep: bool = True) -> list[JsonObject]:
    """
    Make conversations of the kept turns of an episode, as long as possible; or of the
    dropped ones, one each. The first text begins with the history before it.
    """
    flags = [turn.decision.is_kept is keep for turn in episode]
    logs: list[JsonObject] = []
    for part in _cut([turn.message for turn in episode], flags, join=keep):
        pairs = [
            [_teacher_act(message, episode[place]), _label_act(episode[place])]
            for place, message in part
        ]
        for act in pairs[-1]:
            act['episode_done'] = True
        logs.append({'dialog': pairs, 'context': []})
    return logs


def _teacher_act(message: JsonMapping, turn: JudgedTurn) -> JsonObject:
    fields = {k: v for k, v in message.items() if k not in LEFT_OUT and _is_json(v)}
    return {
        **fields,
        'id': str(message.get('id') or 'teacher'),
        'text': str(message.get('text') or ''),
        # Readers of the file find the knowledge here, wherever the task has it.
        **({} if as_text(fields.get('knowledge')) else {'knowledge': turn.knowledge}),
        'labels': turn.kept_labels or [label.text for label in turn.labels],
        'episode_done': False,
    }


def _label_act(turn: JudgedTurn) -> JsonObject:
    main_label = turn.main_label
    act: JsonObject = {
        'id': LABELLED_BY,
        'text': main_label.text if main_label else '',
        'q2_kept': turn.decision.is_kept,
        'q2_reason': turn.decision.reason,
        'episode_done': False,
    }
    if main_label and main_label.score:
        evidence = main_label.score.to_dict()
        # The signature is the same for all turns, and stands in the metadata.
        evidence.pop('signature')
        act['q2_score'] = main_label.score.value
        act['q2_evidence'] = evidence
    return act


def _is_json(value: object) -> bool:
    """Whether a value can be written as JSON; an image or a tensor cannot."""
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return False
    return True


def split_at_gaps(
    episode: Sequence[JsonMapping], keep: Sequence[bool]
) -> list[list[JsonObject]]:
    """Copy the kept messages of an episode into episodes without gaps."""
    return [[message for _, message in part] for part in _cut(episode, keep)]


def _cut(
    episode: Sequence[JsonMapping], keep: Sequence[bool], join: bool = True
) -> list[list[tuple[int, JsonObject]]]:
    """
    Copy the kept messages, with their places; if joined, neighbours form one part.
    """
    parts: list[list[tuple[int, JsonObject]]] = []
    before: list[str] = []
    is_open = False
    for place, (message, is_kept) in enumerate(zip(episode, keep, strict=True)):
        if is_kept:
            copy = {k: v for k, v in message.items() if k != 'episode_done'}
            if not is_open:
                copy = with_history(copy, before)
                parts.append([])
            parts[-1].append((place, copy))
        is_open = is_kept and join
        before += history_lines(message)
    return parts


def with_history(message: JsonMapping, before: Sequence[str]) -> JsonObject:
    """Copy a message, with the history before its text."""
    copy = dict(message)
    if before:
        copy['text'] = DELIMITER.join([*before, str(message.get('text') or '')])
    return copy


def history_lines(message: JsonMapping) -> list[str]:
    """What a turn adds to the history: its text, and its first label."""
    text = message.get('text')
    return [*([] if text is None else [str(text)]), *read_labels(message)[:1]]
