"""Iterates once over the turns of any ParlAI task, in order."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from parlai.agents.repeat_label.repeat_label import RepeatLabelAgent
from parlai.core.opt import Opt
from parlai.core.worlds import create_task
from parlai.tasks.tasks import ids_to_tasks
from parlai.utils.data import DatatypeHelper

from parlai_q2.errors import ConfigError
from parlai_q2.options import OptionGroup


def once(datatype: str) -> str:
    """A datatype that shows a fold once: ``train:evalmode`` for ``train``."""
    fold = DatatypeHelper.fold(datatype)
    # Without this, a teacher repeats its training data for ever.
    mode = ':evalmode' if fold == 'train' else ''
    stream = ':stream' if 'stream' in datatype else ''
    return f'{fold}{mode}{stream}'


class TaskEpisodes:
    """
    The episodes of one task, each a list of messages as its teacher sends them, with
    the labels in ``labels``. With a ``limit`` of turns, the last episode is still
    complete.
    """

    def __init__(self, opt: Opt, limit: int | None = None):
        opt = Opt(opt)
        opt['datatype'] = once(opt['datatype'])
        opt['batchsize'], opt['num_workers'] = 1, 0
        opt['dynamic_batching'] = opt['background_index'] = None
        # Labels are only repeated here, so they are not scored as responses.
        opt['q2_metrics'] = False
        # Their F1 and BLEU are useless, too, and take longer than reading the turns.
        opt['metrics'] = 'none'
        self.limit = limit
        self.world = create_task(opt, RepeatLabelAgent(opt))

    def __len__(self) -> int:
        total = self.world.num_examples()
        return int(total if self.limit is None else min(total, self.limit))

    def __iter__(self) -> Iterator[list[dict[str, Any]]]:
        if self.limit == 0:
            return
        count, episode = 0, []
        while not self.world.epoch_done():
            self.world.parley()
            message = self.world.get_acts()[0]
            if message.is_padding():
                continue
            fields = dict(message)
            if 'eval_labels' in fields:
                fields['labels'] = fields.pop('eval_labels')
            episode.append(fields)
            count += 1
            if fields.get('episode_done'):
                yield episode
                episode = []
                if self.limit is not None and count >= self.limit:
                    return
        if episode:
            yield episode


def digest(
    episodes: Iterable[Sequence[Mapping[str, object]]], left_out: Sequence[str] = ()
) -> str:
    """
    The SHA-256 of all messages, without the fields ``left_out`` and values that JSON
    cannot represent.
    """
    hasher = hashlib.sha256()
    for episode in episodes:
        messages = [{k: v for k, v in m.items() if k not in left_out} for m in episode]
        text = json.dumps(messages, sort_keys=True, default=lambda value: None)
        hasher.update(text.encode('ascii') + b'\n')
    return hasher.hexdigest()


def add_num_examples(group: OptionGroup, what: str) -> None:
    """Add ``-n``, the number of turns of each task; ``what`` is the help's verb."""
    group.add_argument(
        '-n',
        '--num-examples',
        type=int,
        default=-1,
        help=f'turns of each task to {what}; -1: all',
    )


def tasks_from_opt(opt: Opt) -> Sequence[TaskEpisodes]:
    """Read the tasks that ``--task`` names, each limited by ``--num-examples``."""
    if not opt.get('task'):
        raise ConfigError('--task is missing. Give one: -t TASK')
    count = opt.get('num_examples')
    limit = None if count is None or count < 0 else count
    return [
        TaskEpisodes(Opt({**opt, 'task': task}), limit)
        for task in ids_to_tasks(opt['task']).split(',')
    ]
