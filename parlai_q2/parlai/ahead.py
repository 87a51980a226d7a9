"""
Shows a mutator the episodes that its teacher will send next, so that it can score many
labels in one call.

ParlAI hands a mutator one episode at a time, without its teacher. So a teacher's
``get_orig_action`` is wrapped: before it runs, it announces the teacher to its
mutators. Looking ahead takes nothing from the teacher: episodes in memory are read by
their numbers, and those of a stream from a copy of its iterator.
"""

from collections.abc import Iterator
from copy import copy
from functools import wraps
from itertools import chain, tee
from typing import Any

from parlai.core.message import Message
from parlai.core.teachers import DialogTeacher, FixedDialogTeacher, StreamDialogData


def watch_teachers() -> None:
    """Announce teachers to their mutators from now on; called once."""
    get_orig_action, load = FixedDialogTeacher.get_orig_action, StreamDialogData._load

    @wraps(get_orig_action)
    def tell_mutators(self: Any) -> Any:
        for place, mutator in enumerate(getattr(self, 'mutators', ())):
            if hasattr(mutator, 'will_read'):
                mutator.will_read(self, place)
        return get_orig_action(self)

    @wraps(load)
    def load_copyable(self: Any, *args: Any) -> None:
        load(self, *args)
        # All clones of the teacher share the mutator.
        (self.data,) = tee(self.data, 1)

    FixedDialogTeacher.get_orig_action = tell_mutators
    StreamDialogData._load = load_copyable


def in_order(teacher: object) -> bool:
    """Whether a teacher sends its episodes one after another."""
    return is_stream(teacher) or not getattr(teacher, 'random', True)


def is_stream(teacher: object) -> bool:
    return isinstance(teacher, DialogTeacher) and bool(teacher.stream)


def upcoming(teacher: Any, place: int) -> Iterator[list[Message]]:
    """Yield the episodes after the current one, as the mutator at a place gets them."""
    episodes = _of_stream(teacher) if is_stream(teacher) else _by_number(teacher)
    for episode in episodes:
        messages: Any = [message.copy() for message in episode]
        for mutator in teacher.mutators[:place]:
            messages = mutator(messages)
        yield from _episodes(messages)


def _episodes(messages: Any) -> Iterator[list[Message]]:
    episode: list[Message] = []
    for message in messages:
        episode.append(message)
        if message.get('episode_done'):
            yield episode
            episode = []


def _by_number(teacher: Any) -> Iterator[list[Message]]:
    for number in range(teacher.episode_idx + 1, teacher.num_episodes()):
        episode: list[Message] = []
        while not (episode and episode[-1].get('episode_done')):
            episode.append(Message(teacher.get(number, len(episode))))
        yield episode


def _of_stream(teacher: Any) -> Iterator[list[Message]]:
    data = teacher.data
    for entries in chain([data.cur_episode], copy(data.data)):
        if not isinstance(entries, list):
            return  # the end of the data
        episode = [Message(data.build_table(entry)) for entry in entries]
        for message in episode:
            message['episode_done'] = message is episode[-1]
        yield episode
