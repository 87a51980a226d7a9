"""
One scorer's scores of all texts of an evaluation.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Mapping, Optional, Sequence, Union

from parlai_q2.meta_eval.judged import Judged, Pair
from parlai_q2.records import Score
from parlai_q2.text.passage import passage_key

if TYPE_CHECKING:
    import numpy as np

# A judged response, or a pair that was made up.
Scored = Union[Judged, Pair]


@dataclass(frozen=True)
class Measure:
    """
    What a scorer, or a column of a file, says.

    :param name: as tables print it.
    :param signature: how to get the numbers again.
    :param threshold: a score of at most this is inconsistent; None for scores that are
        not in [0, 1], which have no such threshold.
    :param scores: (knowledge, response) to score; some may be missing.
    """

    name: str
    signature: str
    threshold: Optional[float]
    scores: Mapping[Pair, Score]

    def __contains__(self, scored: Scored) -> bool:
        return _pair(scored) in self.scores

    def score(self, scored: Scored) -> Score:
        """
        The score of a response that has one.
        """
        return self.scores[_pair(scored)]

    def known(self, responses: Sequence[Judged]) -> list[Judged]:
        """
        Those of the responses that have a score.
        """
        return [r for r in responses if r in self]

    def values(
        self, responses: Sequence[Scored], part: Optional[str] = None
    ) -> 'np.ndarray':
        """
        Scores as numbers.

        :param responses: responses that have a score.
        :param part: a name in ``Score.parts``, to have that number in place of the
            value.
        """
        import numpy as np

        scores = [self.score(r) for r in responses]
        return np.array(
            [s.parts[part] if part else s.value for s in scores], dtype=float
        )


def passages(responses: Sequence[Scored]) -> list[str]:
    """
    The passage of knowledge of each, by which responses are drawn together.
    """
    return [passage_key(_pair(r)[0]) for r in responses]


def _pair(scored: Scored) -> Pair:
    return scored.pair if isinstance(scored, Judged) else scored
