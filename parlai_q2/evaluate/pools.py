"""
Measures how well a score chooses among responses to one turn, as in a reranker: how
often the response with the highest score is wrong, compared with a random choice and
with the best possible one.

The chances of subsets of n of a pool's m responses are exact, not sampled: a score is a
subset's highest if at least one response in it has that score, and none a higher one.
Responses with equal scores are equally likely to be chosen.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING

from parlai_q2.claims import Label
from parlai_q2.evaluate.measures import ScoreTable, passages
from parlai_q2.evaluate.sets import CLASSES, AnnotatedResponse
from parlai_q2.intervals import ROUNDS, SEED, intervals, ratio
from parlai_q2.tables import Cell
from parlai_q2.text.normalize import passage_key

if TYPE_CHECKING:
    import numpy as np

# The majority's answer to whether a response makes things up, if annotators were asked.
HALLUCINATION, HISTORY = 'hallucination', 'history'


def is_wrong(response: AnnotatedResponse) -> bool | None:
    """
    Whether a response is a wrong choice: if annotators were asked, whether most say
    that it makes something up (Santhanam et al. 2021); otherwise whether it is
    inconsistent. None if nobody judged it.
    """
    if HALLUCINATION in response.extra:
        verdict = response.extra[HALLUCINATION]
        return None if verdict is None else bool(verdict)
    return response.label == Label.INCONSISTENT if response.label in CLASSES else None


@dataclass(frozen=True)
class AnnotatedPool:
    """
    At least two responses to choose from, in the order of the set, and whether each is
    a wrong choice.
    """

    corpus: str
    responses: tuple[AnnotatedResponse, ...]
    wrong: tuple[bool, ...]

    @property
    def mixed(self) -> bool:
        """Whether the choice matters: some responses are wrong, and some are not."""
        return len(set(self.wrong)) > 1


def group_pools(responses: Sequence[AnnotatedResponse]) -> list[AnnotatedPool]:
    """
    Group responses to the same knowledge, at least two each; in a set of whole
    conversations, those to the same conversation and knowledge. Responses that nobody
    judged are left out.
    """
    by_turn: dict[tuple[str, str, str], list[AnnotatedResponse]] = {}
    for response in responses:
        if is_wrong(response) is not None:
            turn = response.text if HISTORY in response.extra else ''
            key = response.corpus, turn, passage_key(response.knowledge)
            by_turn.setdefault(key, []).append(response)
    pools = []
    for (corpus, _, _), members in by_turn.items():
        if len(members) > 1:
            wrong = tuple(bool(is_wrong(response)) for response in members)
            pools.append(AnnotatedPool(corpus, tuple(members), wrong))
    return pools


def expected_wrong(
    scores: 'Sequence[float] | np.ndarray', wrong: Sequence[bool], n: int | None = None
) -> float:
    """
    The probability that the highest score of n responses is that of a wrong one.

    :param scores: m scores, at least one.
    :param wrong: for each, whether the response should not be chosen.
    :param n: how many responses there are to choose from, each subset of the m equally
        likely; None for all.
    :raises ValueError: unless 1 <= n <= m.

    >>> expected_wrong([0.9, 0.5, 0.1], [True, False, False], 2)
    0.6666666666666666
    """
    m = len(scores)
    n = m if n is None else n
    if not 1 <= n <= m:
        raise ValueError(f'There is no choice of {n} among {m} responses.')
    by_score: dict[float, list[bool]] = {}
    for score, is_wrong in zip(scores, wrong, strict=True):
        by_score.setdefault(float(score), []).append(is_wrong)
    below, expected = 0, 0.0
    for _, tied in sorted(by_score.items()):
        upto = below + len(tied)
        best = (comb(upto, n) - comb(below, n)) / comb(m, n)
        expected += best * sum(tied) / len(tied)
        below = upto
    return expected


# The shares of wrong choices at random, of the best possible ones and of the highest
# score; how much the score changes; and of what chance gets wrong and the best would
# not, the share that the score avoids (None where there is nothing to avoid).
SHARES = ('random', 'oracle', 'chosen', 'change', 'avoided')


def choices(
    measure: ScoreTable,
    pools: Sequence[AnnotatedPool],
    n: int | None = None,
    rounds: int = ROUNDS,
    seed: int = SEED,
) -> dict[str, Cell] | None:
    """
    How well a measure chooses among n responses of each pool (None: all): the metrics
    :data:`SHARES`, the number of ``pools``, and how many are ``mixed``. Pools that are
    smaller or have a response without a score are left out; None if no pool is left.
    """
    import numpy as np

    pools = [pool for pool in pools if len(pool.responses) >= (n or 2)]
    complete = [pool for pool in pools if all(r in measure for r in pool.responses)]
    if not complete:
        return None
    shares = np.array([_wrong_shares(measure, pool, n) for pool in complete]).T

    def statistic(weights: 'np.ndarray') -> 'np.ndarray':
        by_chance, best, ours = shares @ weights.T / weights.sum(axis=1)
        # Where no pool is mixed, the two differ by rounding alone.
        avoided = ratio(by_chance - ours, np.round(by_chance - best, 12), np.nan)
        return np.stack([by_chance, best, ours, ours - by_chance, avoided], axis=1)

    groups = passages([pool.responses[0] for pool in complete])
    metrics = intervals(statistic, len(complete), rounds, seed, groups)
    mixed = sum(pool.mixed for pool in complete)
    return {
        'pools': len(complete),
        'mixed': mixed,
        **dict(zip(SHARES, metrics, strict=True)),
    }


def _wrong_shares(
    measure: ScoreTable, pool: AnnotatedPool, n: int | None
) -> tuple[float, float, float]:
    """The probability of a wrong choice: at random, at best, and by the measure."""
    wrong = pool.wrong
    is_right = [not is_wrong for is_wrong in wrong]
    return (
        sum(wrong) / len(wrong),
        expected_wrong(is_right, wrong, n),
        expected_wrong(measure.values(pool.responses), wrong, n),
    )
