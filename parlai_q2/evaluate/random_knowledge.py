"""
Pairs responses with knowledge that is not theirs; their scores should fall.

As in Honovich et al. 2021, Table 10, the knowledge comes from another turn of the same
dialogue, or from another dialogue.
"""

import random
from typing import Sequence

from parlai_q2.evaluate.judged import Judged, Pair

SAME_DIALOGUE, RANDOM_DIALOGUE = 'same dialogue', 'random dialogue'


def same_dialogue(
    responses: Sequence[Judged], others: Sequence[Judged], seed: int
) -> list[Pair]:
    """
    Pair each response with the knowledge of another turn of its dialogue.

    :param responses: the responses to pair.
    :param others: where the knowledge is taken from; usually more turns of the same
        dialogues.
    :param seed: seed of the random choice.
    :return: (knowledge, response) for each response whose dialogue is known and has,
        among ``others``, another turn with different knowledge.
    """
    by_dialogue: dict[str, dict[str, set[str]]] = {}
    for other in others:
        turns = by_dialogue.setdefault(other.dialogue, {})
        turns.setdefault(other.knowledge, set()).add(other.turn)
    rng = random.Random(f'{SAME_DIALOGUE} {seed}')
    pairs = []
    for response in responses:
        choice = sorted(
            knowledge
            for knowledge, turns in by_dialogue.get(response.dialogue, {}).items()
            if knowledge != response.knowledge and response.turn not in turns
        )
        if response.dialogue and choice:
            pairs.append((rng.choice(choice), response.response))
    return pairs


def random_dialogue(
    responses: Sequence[Judged], others: Sequence[Judged], seed: int
) -> list[Pair]:
    """
    Pair each response with the knowledge of another dialogue.

    :param responses: the responses to pair.
    :param others: where the knowledge is taken from. Where a dialogue is unknown, any
        different knowledge counts as another dialogue's.
    :param seed: seed of the random choice.
    :return: (knowledge, response); responses for which there is no other knowledge are
        left out.
    """
    pool = sorted({(other.knowledge, other.dialogue) for other in others})
    rng = random.Random(f'{RANDOM_DIALOGUE} {seed}')
    pairs = []
    for response in responses:
        # Most draws hit another dialogue; the full list is built only if none does.
        for _ in range(20):
            knowledge, dialogue = rng.choice(pool)
            if _is_other(response, knowledge, dialogue):
                pairs.append((knowledge, response.response))
                break
        else:
            rest = [k for k, d in pool if _is_other(response, k, d)]
            if rest:
                pairs.append((rng.choice(rest), response.response))
    return pairs


def _is_other(response: Judged, knowledge: str, dialogue: str) -> bool:
    unknown = not (response.dialogue and dialogue)
    return knowledge != response.knowledge and (
        unknown or dialogue != response.dialogue
    )
