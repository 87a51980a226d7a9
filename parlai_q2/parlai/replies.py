"""
Lets a model reply to the turns of a task, many conversations at a time.

The history of each turn is what people said; the model's own replies are not part of
it.
"""

from itertools import islice
from typing import Any, Iterable, Iterator, Sequence

from parlai.core.agents import Agent
from parlai.core.message import Message

Episode = Sequence[dict[str, Any]]


def replies(
    agent: Agent, episodes: Iterable[Episode], batchsize: int
) -> Iterator[list[Message]]:
    """
    Get a model's replies.

    :param agent: the model.
    :param episodes: lists of messages with ``labels``.
    :param batchsize: number of conversations at a time, at least 1.
    :return: for each episode, in order, one reply for each turn.
    """
    clones: list[Agent] = []
    stream = iter(episodes)
    while group := list(islice(stream, batchsize)):
        while len(clones) < len(group):
            clones.append(agent.clone())
        yield from _reply_to(group, clones)


def _reply_to(group: Sequence[Episode], clones: Sequence[Agent]) -> list[list[Message]]:
    found: list[list[Message]] = [[] for _ in group]
    for turn in range(max(map(len, group))):
        there = [n for n, episode in enumerate(group) if turn < len(episode)]
        seen = [clones[n].observe(_asked(group[n], turn)) for n in there]
        if hasattr(clones[0], 'batch_act'):
            said = clones[0].batch_act(seen)
        else:
            said = [clones[n].act() for n in there]
        for n, reply in zip(there, said, strict=True):
            if hasattr(clones[n], 'self_observe'):
                clones[n].self_observe(reply)
            found[n].append(Message(reply))
    return found


def _asked(episode: Episode, turn: int) -> Message:
    message = Message(episode[turn])
    # A model trains if it sees labels.
    labels = message.pop('labels', None)
    if labels:
        message.force_set('eval_labels', labels)
    message.force_set('episode_done', turn == len(episode) - 1)
    return message
