"""
Turns a reranking model's choices into judged episodes, for a training set.

This is rejection sampling, or best-of-n distillation: many candidates are generated and
scored, and the best one becomes a training example if its score is above the threshold.
A model trained on these examples needs one search for what took ten and a scorer.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, tee

from parlai.core.agents import Agent
from parlai.core.message import Message

from parlai_q2.filtering.conversation import history_lines, with_history
from parlai_q2.filtering.judge import (
    MESSAGES,
    Decision,
    FilterReason,
    JudgedEpisode,
    Policy,
    judge_episodes,
    read_labels,
)
from parlai_q2.io.knowledge import KnowledgeSource, as_text
from parlai_q2.json_values import JsonObject
from parlai_q2.scorers.base import Scorer
from parlai_q2.turns import joined

GOLD = 'gold_labels'

Episode = Sequence[JsonObject]


def replies(
    agent: Agent, episodes: Iterable[Episode], batchsize: int
) -> Iterator[list[Message]]:
    """
    Let a model reply to the turns of a task, ``batchsize`` conversations at a time: for
    each episode, in order, one reply for each turn. The history of a turn has the human
    replies, not the model's.
    """
    clones: list[Agent] = []
    stream = iter(episodes)
    while group := list(islice(stream, batchsize)):
        while len(clones) < len(group):
            clones.append(agent.clone())
        yield from _reply_to(group, clones)


def _reply_to(group: Sequence[Episode], clones: Sequence[Agent]) -> list[list[Message]]:
    turn_replies: list[list[Message]] = [[] for _ in group]
    for turn in range(max(map(len, group))):
        active = [n for n, episode in enumerate(group) if turn < len(episode)]
        observations = [clones[n].observe(_ask(group[n], turn)) for n in active]
        if hasattr(clones[0], 'batch_act'):
            messages = clones[0].batch_act(observations)
        else:
            messages = [clones[n].act() for n in active]
        for n, reply in zip(active, messages, strict=True):
            if hasattr(clones[n], 'self_observe'):
                clones[n].self_observe(reply)
            turn_replies[n].append(Message(reply))
    return turn_replies


def _ask(episode: Episode, turn: int) -> Message:
    message = Message(episode[turn])
    # A model would train on labels.
    labels = message.pop('labels', None)
    if labels:
        message.force_set('eval_labels', labels)
    message.force_set('episode_done', turn == len(episode) - 1)
    return message


def reply_record(reply: JsonObject) -> JsonObject:
    """
    Select the parts of a model's message to store, JSON-safe: ``text``; ``knowledge``,
    None if the reply was not reranked; and whether the model ``abstained``, so that
    ``text`` is not the chosen candidate.
    """
    text = str(reply.get('text') or '')
    chosen = [row['text'] for row in reply.get('rerank') or [] if row['chosen']]
    return {
        'text': text,
        'knowledge': reply.get('rerank_knowledge'),
        'abstained': bool(chosen) and chosen != [text],
    }


def judge_replies(
    episodes: Iterable[Sequence[Mapping[str, object]]],
    records: Iterable[Sequence[Mapping[str, object]]],
    scorer: Scorer,
    policy: Policy,
    source: KnowledgeSource = MESSAGES,
) -> Iterator[JudgedEpisode]:
    """
    Judge a model's replies, as :func:`reply_record` returned them. Each becomes an
    episode of its own, since people's replies are its history.
    """
    paired = (
        (references(episode, of_episode, source), of_episode)
        for episode, of_episode in zip(episodes, records, strict=True)
    )
    replied, same_replied = tee(paired)
    judged = judge_episodes((messages for messages, _ in replied), scorer, policy)
    for turns, (_, of_episode) in zip(judged, same_replied, strict=True):
        for turn, record in zip(turns, of_episode, strict=True):
            if record['abstained']:
                turn = replace(turn, decision=Decision(False, FilterReason.ABSTAINED))
            yield [turn]


def references(
    episode: Sequence[Mapping[str, object]],
    records: Sequence[Mapping[str, object]],
    source: KnowledgeSource = MESSAGES,
) -> list[JsonObject]:
    """
    An episode's messages, with the model's reply as label and all history as text.
    """
    before: list[str] = []
    messages = []
    passages = source.of_episode(episode)
    for message, record, own_passages in zip(episode, records, passages, strict=True):
        fields = with_history(message, before)
        fields.pop('eval_labels', None)
        fields['labels'] = [] if record['abstained'] else [record['text']]
        fields[GOLD] = read_labels(message)
        # Knowledge may be inside a message's text, which now begins with the history,
        # or the model got it from elsewhere, e.g. from --knowledge-file.
        text = joined(own_passages) or record['knowledge']
        if text and not as_text(fields.get('knowledge')):
            fields['knowledge'] = text
        messages.append(fields)
        before += history_lines(message)
    return messages
