"""
Guards find replies that are grounded without being good replies. Each guard is one
object with its detection, its penalty and its message, and :data:`GUARDS` lists them.

To add a guard, write a subclass of :class:`~parlai_q2.rerank.guards.base.Guard` in a
module of its own and add an instance to :data:`GUARDS`. Commands, chat and metrics then
know it. To try one without editing the package, pass it:
``Reranker(guards=[*GUARDS, MyGuard()])``.
"""

from collections.abc import Mapping, Sequence
from itertools import compress

from parlai_q2.claims import Label, Score
from parlai_q2.rerank.guards.base import Guard, ScoredReply
from parlai_q2.rerank.guards.subject import PronounGuard, UnnamedGuard
from parlai_q2.rerank.guards.words import (
    CopyGuard,
    GenericGuard,
    MisspellingGuard,
    RepetitionGuard,
)

GUARDS: tuple[Guard, ...] = (
    CopyGuard(),
    GenericGuard(),
    RepetitionGuard(),
    MisspellingGuard(),
    UnnamedGuard(),
    PronounGuard(),
)
GUARD_NAMES = tuple(guard.name for guard in GUARDS)
# The penalties of guards when a generator learns from scores.
TRAINING_PENALTIES: Mapping[str, float] = {
    guard.name: (
        guard.penalty if guard.training_penalty is None else guard.training_penalty
    )
    for guard in GUARDS
}

# The least value of a reply with the label ``generic``. At the threshold, it would win
# over right replies that the scorer doubts: on BEGIN dev the share of wrong choices
# rose from 0.405 to 0.444.
MIN_GENERIC_VALUE = 0.2


def detect_guards(
    replies: Sequence[ScoredReply], guards: Sequence[Guard] = GUARDS
) -> list[tuple[str, ...]]:
    """The names of the guards that hold for each of N scored replies, usually none."""
    detected: list[list[str]] = [[] for _ in replies]
    for guard in guards:
        for names in compress(detected, guard.detect_batch(replies)):
            names.append(guard.name)
    return list(map(tuple, detected))


def apply_penalties(
    score: Score,
    names: Sequence[str],
    penalties: Mapping[str, float],
    threshold: float = 0.5,
) -> float:
    """
    Compute the value of a reply's score after the guards, in [0, 1].

    Penalties lower a value to the threshold at most. By the rule ``score``, a guarded
    reply can thus lose to every reply that the scorer calls consistent, and still wins
    over an inconsistent one. If the guard ``generic`` holds and so is the label, the
    value is at least :data:`MIN_GENERIC_VALUE` and at most the threshold, whatever the
    penalties: saying nothing is better than saying something wrong.

    :param names: the guards that hold.
    :param penalties: what each guard subtracts, by its name; 0 for others.
    :param threshold: a value of at most this, in [0, 1], is inconsistent.
    """
    value = score.value
    if score.label == Label.GENERIC and GenericGuard.name in names:
        return min(max(value, MIN_GENERIC_VALUE), threshold)
    penalty = sum(penalties.get(name, 0.0) for name in names)
    return max(value - penalty, min(value, threshold))


def find_guard(name: str) -> Guard | None:
    """Find a guard by name; None if it is not in :data:`GUARDS`."""
    return next((guard for guard in GUARDS if guard.name == name), None)


__all__ = [
    'GUARDS',
    'GUARD_NAMES',
    'TRAINING_PENALTIES',
    'Guard',
    'ScoredReply',
    'apply_penalties',
    'detect_guards',
    'find_guard',
]
