"""
Draws a random sample of a set, for a first look at the results.
"""

import random
from dataclasses import replace

from parlai_q2.evaluate.judged import JudgedSet


def sampled(judged: JudgedSet, count: int, seed: int) -> JudgedSet:
    """
    Sample responses, and the same number of contexts that several systems answered.

    :param judged: the set.
    :param count: how many to draw. A negative number, or one not below the number of
        responses, gives the whole set.
    :param seed: seed of the random choice.
    :return: a set with the same name, and a title that says it is a sample.
    """
    if count < 0 or count >= len(judged.responses):
        return judged
    rng = random.Random(f'sample {seed}')
    chosen = sorted(rng.sample(range(len(judged.responses)), count))
    contexts = range(len(judged.crossed))
    crossed = sorted(rng.sample(contexts, min(count, len(contexts))))
    return replace(
        judged,
        title=f'{judged.title}, a sample of {count}',
        responses=tuple(judged.responses[i] for i in chosen),
        crossed=tuple(judged.crossed[i] for i in crossed),
    )
