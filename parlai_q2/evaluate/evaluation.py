"""
Holds all the scores of one set, from which its tables and figures are made.
"""

from dataclasses import dataclass, field
from typing import Any, Optional, Sequence

from parlai_q2.bootstrap import ROUNDS, SEED, Interval, mean_interval
from parlai_q2.evaluate.judged import Judged, JudgedSet, Pair
from parlai_q2.evaluate.measure import Measure, Scored, passages
from parlai_q2.evaluate.response_level import ResponseLevel, response_level

# Scorers whose preset had its settings chosen on development data; see
# docs/accuracy.md.
CHOSEN_ON_DEVELOPMENT_DATA = ('q2', 'q2_f1', 'consistency')


@dataclass(frozen=True)
class Evaluation:
    """
    A set with all its scores.

    :param judged: the set.
    :param measures: the scores of each requested scorer, in order.
    :param variants: Q2 in other settings, for the tables of ablations and coverage.
    :param same_dialogue: responses paired with knowledge of another turn.
    :param random_dialogue: responses paired with knowledge of another dialogue.
    :param rounds: rounds of every bootstrap.
    :param seed: seed of every random draw.
    """

    judged: JudgedSet
    measures: tuple[Measure, ...]
    variants: tuple[Measure, ...] = ()
    same_dialogue: tuple[Pair, ...] = ()
    random_dialogue: tuple[Pair, ...] = ()
    rounds: int = ROUNDS
    seed: int = SEED
    _levels: dict[Any, ResponseLevel] = field(
        default_factory=dict, compare=False, repr=False
    )

    def measure(self, name: str) -> Optional[Measure]:
        """
        The measure of that name, or None.
        """
        return next((m for m in self.measures if m.name == name), None)

    def title(self, what: str, table: str) -> str:
        """
        A table's title. It names the paper's table where the data are the same.
        """
        cited = f' (Q2, {table})' if self.judged.name == 'q2_wow' else ''
        return f'{what}, {self.judged.title}{cited}'

    def notes_on_fit(self) -> list[str]:
        """
        Notes on scorers that were fitted on these very responses, or whose settings
        were chosen on them.
        """
        if not self.judged.fitted_on:
            return []
        fitted = [m.name for m in self.measures if '|fitted_with:' in m.signature]
        chosen = [
            m.name
            for m in self.measures
            if m.signature.partition('|')[0] in CHOSEN_ON_DEVELOPMENT_DATA
            and '|preset:mini' in m.signature
        ]
        notes = []
        if fitted:
            notes.append(
                f'Fitted on these responses, among others: {", ".join(fitted)}. '
                'The figures shown are those of the fit; for held-out figures, '
                'see docs/accuracy.md.'
            )
        if chosen:
            notes.append(
                'Settings and thresholds chosen on these responses, among others: '
                f'{", ".join(chosen)}.'
            )
        return notes

    def notes_on_missing(self, responses: Sequence[Judged]) -> list[str]:
        """
        Notes on measures that have no score for some of the responses.
        """
        missing = [
            f'{measure.name} {count}'
            for measure in self.measures
            if (count := len(responses) - len(measure.known(responses)))
        ]
        if not missing:
            return []
        return [f'Responses without a score, left out: {", ".join(missing)}.']

    def level(self, measure: Measure, responses: Sequence[Judged]) -> ResponseLevel:
        """
        A measure's figures over responses of the set. They are computed once and shared
        by all tables and figures.
        """
        # The set keeps its responses alive, so their ids cannot be reused.
        asked = measure.name, tuple(id(response) for response in responses)
        if asked not in self._levels:
            self._levels[asked] = response_level(
                measure, responses, self.rounds, self.seed
            )
        return self._levels[asked]

    def mean(
        self, measure: Measure, responses: Sequence[Scored], part: Optional[str] = None
    ) -> Optional[Interval]:
        """
        A measure's mean over the responses that it has scored.

        :return: None where it has scored none of them.
        """
        known = [r for r in responses if r in measure]
        values = measure.values(known, part)
        if not len(values):
            return None
        return mean_interval(values, self.rounds, self.seed, passages(known))
