"""
Measures how well scorers find what was injected.

Each scorer decides at its own threshold, as ``parlai_q2 filter`` does: generic and
unverifiable replies stay.
"""

from typing import TYPE_CHECKING, NamedTuple, Optional, Sequence

from parlai_q2.bootstrap import Interval, intervals, ratio
from parlai_q2.filtering import Policy
from parlai_q2.records import Example
from parlai_q2.scorers.base import Scorer
from parlai_q2.zoo.experiments.injected.files import Fields

if TYPE_CHECKING:
    import numpy as np


class Quality(NamedTuple):
    """
    How a filter's decisions compare with what is known of each turn, with 95 %
    intervals over the turns.

    :param kept: the share of all turns that stay.
    :param precision: among the turns that go, the share with an injection.
    :param recall: among the turns with an injection, the share that go.
    :param left: among the turns that stay, the share with an injection.
    :param by_kind: the recall for each kind of injection.
    """

    kept: Optional[Interval]
    precision: Optional[Interval]
    recall: Optional[Interval]
    left: Optional[Interval]
    by_kind: dict[str, Optional[Interval]]


def dropped(turns: Sequence[Fields], scorer: Scorer) -> list[bool]:
    """
    Which turns a filter with this scorer leaves out.
    """
    examples = [Example(turn['knowledge'], turn['reply']) for turn in turns]
    policy = Policy(threshold=scorer.threshold)
    scores = scorer.score(examples)
    return [not policy.decide(*pair).kept for pair in zip(examples, scores)]


def quality(turns: Sequence[Fields], goes: Sequence[bool], rounds: int) -> Quality:
    """
    Compare the turns that go with those that had an injection.

    :param turns: B turns.
    :param goes: for each turn, whether the filter leaves it out.
    :param rounds: the number of bootstrap rounds.
    :return: the quality; a share of nothing is None.
    """
    import numpy as np

    kinds = sorted({turn['injected'] for turn in turns} - {''})
    gone = np.array(goes, dtype=float)
    kind_of = np.array([turn['injected'] for turn in turns])
    wrong = (kind_of != '').astype(float)

    def statistic(weights: 'np.ndarray') -> 'np.ndarray':
        def share(of: 'np.ndarray', among: 'np.ndarray') -> 'np.ndarray':
            return ratio(weights @ (of * among), weights @ among, np.nan)

        return np.stack(
            [
                share(1 - gone, np.ones_like(gone)),
                share(wrong, gone),
                share(gone, wrong),
                share(wrong, 1 - gone),
                *(share(gone, (kind_of == kind).astype(float)) for kind in kinds),
            ],
            axis=1,
        )

    kept, precision, recall, left, *of_kinds = intervals(statistic, len(turns), rounds)
    return Quality(kept, precision, recall, left, dict(zip(kinds, of_kinds)))
