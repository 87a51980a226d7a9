"""
The training sets of the conditions, made with the commands that users have:

    unfiltered   all turns
    random       as many of them as the filter keeps, drawn at random
    filtered     what ``parlai_q2 filter`` keeps, at the scorer's own threshold
    control      all turns under ``--mutators flatten+q2_control_tokens``, which at
                 inference asks for the best (Rashkin et al. 2021, ACL)
    clean        the turns into which nothing was injected: what a perfect filter keeps
"""

import random
from pathlib import Path
from typing import Any, Sequence

from parlai.core.opt import Opt
from parlai.utils import logging

from parlai_q2.__main__ import run as run_command
from parlai_q2.parlai.task_episodes import TaskEpisodes
from parlai_q2.zoo.experiments.injected.corpus import choose
from parlai_q2.zoo.experiments.injected.files import (
    Fields,
    fields_of,
    read_turns,
    training_fields,
    write_turns,
)
from parlai_q2.zoo.experiments.injected.inject import inject
from parlai_q2.zoo.experiments.injected.settings import (
    CLEAN,
    CONTROL,
    FILTERED,
    RANDOM,
    UNFILTERED,
    Settings,
)
from parlai_q2.zoo.train.data import read_rows

HELD_OUT, SCORES = 'held_out', 'scores.sqlite'
TASK = 'parlai_q2.tasks.grounded_file.agents'
MUTATORS = 'flatten+q2_control_tokens'


# Control tokens are added in front of the turns when they are read.
FILES = {CONTROL: UNFILTERED}


def path_of(folder: Path, name: str) -> Path:
    """
    The path of a set's file.
    """
    return folder / 'sets' / f'{FILES.get(name, name)}.jsonl'


def make_sets(
    data: str, folder: Path, settings: Settings, conditions: Sequence[str]
) -> None:
    """
    Write the sets that do not exist yet.

    :param data: the corpus, JSON lines with ``k``, ``h`` and ``r``.
    :param conditions: the conditions whose sets are wanted.
    """
    # Written last of the sets that are made together.
    if not path_of(folder, CLEAN).exists():
        logging.info(f'Choosing turns from {data}.')
        turns, held_out = choose(read_rows(data), settings)
        training = training_fields(
            inject(turns, settings.rate, settings.kinds, settings.data_seed)
        )
        path_of(folder, CLEAN).parent.mkdir(parents=True, exist_ok=True)
        replies = [fields_of(turn, turn.reply) for turn in held_out]
        write_turns(path_of(folder, HELD_OUT), replies)
        write_turns(path_of(folder, UNFILTERED), training)
        left_alone = [turn for turn in training if not turn['injected']]
        write_turns(path_of(folder, CLEAN), left_alone)
    by_filter = {FILTERED, RANDOM} & set(conditions)
    if by_filter and not path_of(folder, FILTERED).exists():
        run_command(filter_command(folder, settings))
    if RANDOM in conditions and not path_of(folder, RANDOM).exists():
        turns_ = list(read_turns(path_of(folder, UNFILTERED)))
        kept = sum(1 for _ in read_turns(path_of(folder, FILTERED)))
        # With the same seed, a sample would be the very turns that inject() left alone.
        rng = random.Random(f'{RANDOM} {settings.data_seed}')
        write_turns(path_of(folder, RANDOM), rng.sample(turns_, kept))


def filter_command(folder: Path, settings: Settings) -> list[str]:
    """
    The command that filters, in the form you would type after ``parlai_q2``.
    """
    return [
        'filter',
        *('-t', 'q2:grounded_file', '-dt', 'train'),
        *('--jsonfile-datapath', str(path_of(folder, UNFILTERED))),
        *('--scorer', settings.scorer),
        *('--cache-file', str(folder / SCORES)),
        *('--outfile', str(path_of(folder, FILTERED))),
    ]


def read_set(folder: Path, condition: str, fold: str, settings: Settings) -> list[Any]:
    """
    The turns of a condition as a ParlAI model sees them.

    :param fold: ``train``, or ``valid`` for the held-out contexts.
    """
    from parlai.core.params import ParlaiParser

    import parlai_q2.parlai  # noqa: F401  # knows the mutators

    name = condition if fold == 'train' else HELD_OUT
    options: dict[str, Any] = {
        'task': TASK,
        # Once, in the order of the file: TaskEpisodes makes it train:evalmode.
        'datatype': fold,
        'jsonfile_datapath': str(path_of(folder, name)),
    }
    if condition == CONTROL:
        options |= {
            'mutators': MUTATORS,
            'mutator_scorer': settings.scorer,
            'cache_file': str(folder / SCORES),
            'control_eval': 'measured' if fold == 'train' else 'best',
        }
    opt = Opt(ParlaiParser(True, False).parse_kwargs(**options))
    turns: list[Fields] = []
    for episode in TaskEpisodes(opt):
        for message in episode:
            turns.append(
                {
                    'key': message['key'],
                    'text': message.get('text') or '',
                    'knowledge': message['knowledge'],
                    'reply': message['labels'][0],
                    'injected': message['injected'],
                }
            )
    return turns
