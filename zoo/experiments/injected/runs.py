"""
One run: a generator of one condition and one seed, and its replies.

A finished run is not repeated. A stopped run resumes from its last checkpoint, which
stays until the replies are written.
"""

import json
import time
from pathlib import Path
from typing import Any

from parlai.utils import logging

from parlai_q2.io.write import write_text
from parlai_q2.zoo.experiments.injected.sets import read_set
from parlai_q2.zoo.experiments.injected.settings import Settings
from parlai_q2.zoo.train.checkpoint import drop_checkpoint

# The ways in which a run's replies were decoded.
WAYS = ('sampled', 'greedy')


def path_of_run(folder: Path, condition: str, seed: int) -> Path:
    """
    The path of a run's file.
    """
    return folder / 'runs' / f'{condition}-{seed}.json'


def missing_runs(folder: Path, settings: Settings) -> list[tuple[str, int]]:
    """
    The runs that are still to be done, in order, one seed after the other.
    """
    return [
        (condition, seed)
        for seed in settings.seeds
        for condition in settings.conditions
        if not path_of_run(folder, condition, seed).exists()
    ]


def read_run(folder: Path, condition: str, seed: int) -> dict[str, Any]:
    """
    Read what :func:`do_run` wrote.
    """
    path = path_of_run(folder, condition, seed)
    return json.loads(path.read_text(encoding='utf-8'))


def do_run(folder: Path, condition: str, seed: int, settings: Settings) -> None:
    """
    Train and reply, and write the results of both.
    """
    from parlai_q2.zoo.experiments.injected.training import reply, train

    turns = read_set(folder, condition, 'train', settings)
    contexts = read_set(folder, condition, 'valid', settings)[: settings.contexts]
    path = path_of_run(folder, condition, seed)
    logging.info(f'{condition}, seed {seed}: training on {len(turns)} turns.')
    place = path.with_suffix('')
    model, job, log = train(turns, settings, seed, place)
    start = time.time()
    replies = reply(model, job, contexts, settings, seed)
    found = {
        'condition': condition,
        'seed': seed,
        'turns': len(turns),
        'log': log,
        'seconds_training': log[-1]['seconds'],  # those before a stop too
        'seconds_replying': round(time.time() - start, 1),
        'replies': [
            {'key': turn['key'], **texts} for turn, texts in zip(contexts, replies)
        ],
    }
    write_text(path, json.dumps(found, indent=1) + '\n')
    drop_checkpoint(place)
