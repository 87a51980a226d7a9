"""
Holds one scorer's scores of all the texts of an evaluation.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Mapping, Optional, Sequence, Union

from parlai_q2.evaluate.judged import Judged, Pair
from parlai_q2.records import Score
from parlai_q2.text.passage import passage_key

if TYPE_CHECKING:
    import numpy as np

# A judged response, or a response paired with knowledge that is not its own.
Scored = Union[Judged, Pair]


@dataclass(frozen=True)
class Measure:
    """
    The scores from a scorer, or from a column of a file.

    :param name: the name that tables print.
    :param signature: how to reproduce the scores.
    :param threshold: a score of at most this is inconsistent; None for scores outside
        [0, 1], which have no threshold.
    :param scores: scores by (knowledge, response); some may be missing.
    """

    name: str
    signature: str
    threshold: Optional[float]
    scores: Mapping[Pair, Score]

    def __contains__(self, scored: Scored) -> bool:
        return _pair(scored) in self.scores

    def score(self, scored: Scored) -> Score:
        """
        The score of a response.

        :raises KeyError: when it has none.
        """
        return self.scores[_pair(scored)]

    def known(self, responses: Sequence[Judged]) -> list[Judged]:
        """
        The responses that have a score, in order.
        """
        return [r for r in responses if r in self]

    def values(
        self, responses: Sequence[Scored], part: Optional[str] = None
    ) -> 'np.ndarray':
        """
        Scores as an array of numbers.

        :param responses: n responses that have a score.
        :param part: a name in ``Score.parts``; gives that number instead of the value.
        :return: n numbers.
        """
        import numpy as np

        scores = [self.score(r) for r in responses]
        return np.array(
            [s.parts[part] if part else s.value for s in scores], dtype=float
        )


def passages(responses: Sequence[Scored]) -> list[str]:
    """
    A key for each response's passage of knowledge. The bootstrap draws the responses of
    one passage together.
    """
    return [passage_key(_pair(r)[0]) for r in responses]


def _pair(scored: Scored) -> Pair:
    return scored.pair if isinstance(scored, Judged) else scored
