"""
Runs the meta-evaluation of one set, and holds all the scores from which its tables and
figures are made.
"""

from dataclasses import dataclass, field
from typing import Any, Callable, Iterable, Mapping, Optional, Sequence

from parlai_q2.bootstrap import ROUNDS, SEED, Interval, mean_interval
from parlai_q2.errors import InputError
from parlai_q2.evaluate.levels import ResponseLevel, response_level
from parlai_q2.evaluate.measures import Measure, Scored, passages
from parlai_q2.evaluate.scoring import Cost, Progress, score_pairs, without_nli
from parlai_q2.evaluate.sets import (
    AnnotatedResponse,
    AnnotatedSet,
    Pair,
    contrasts,
    random_dialogue,
    random_sample,
    same_dialogue,
)
from parlai_q2.scorers.base import Scorer

# Scorers whose preset had its settings chosen on development data; see
# docs/accuracy.md.
CHOSEN_ON_DEVELOPMENT_DATA = ('q2', 'q2_f1', 'consistency')


@dataclass(frozen=True)
class Evaluation:
    """
    A set with all its scores.

    :param annotated: the set.
    :param measures: the scores of each requested scorer, in order.
    :param variants: Q2 in other settings, for the tables of ablations and coverage.
    :param same_dialogue: responses paired with knowledge of another turn.
    :param random_dialogue: responses paired with knowledge of another dialogue.
    :param rounds: rounds of every bootstrap.
    :param seed: seed of every random draw.
    """

    annotated: AnnotatedSet
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
        """The measure of that name, or None."""
        return next((m for m in self.measures if m.name == name), None)

    def title(self, what: str, table: str) -> str:
        """A table's title. It names the paper's table where the data are the same."""
        cited = f' (Q2, {table})' if self.annotated.name == 'q2_wow' else ''
        return f'{what}, {self.annotated.title}{cited}'

    def notes_on_fit(self) -> list[str]:
        """
        Notes on scorers that were fitted on these very responses, or whose settings
        were chosen on them.
        """
        if not self.annotated.fitted_on:
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

    def notes_on_missing(self, responses: Sequence[AnnotatedResponse]) -> list[str]:
        """Notes on measures that have no score for some of the responses."""
        missing = [
            f'{measure.name} {count}'
            for measure in self.measures
            if (count := len(responses) - len(measure.known(responses)))
        ]
        if not missing:
            return []
        return [f'Responses without a score, left out: {", ".join(missing)}.']

    def level(
        self, measure: Measure, responses: Sequence[AnnotatedResponse]
    ) -> ResponseLevel:
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


Q2, Q2_F1 = 'q2', 'q2_f1'
Warn = Callable[[str], None]


def evaluate(
    annotated: AnnotatedSet,
    scorers: Mapping[str, Scorer],
    columns: Sequence[Measure] = (),
    variants: Optional[Mapping[str, Scorer]] = None,
    other_knowledge: bool = True,
    rounds: int = ROUNDS,
    seed: int = SEED,
    progress: Optional[Progress] = None,
    warn: Warn = lambda message: None,
) -> tuple[Evaluation, dict[str, Cost]]:
    """
    Score a set with all scorers.

    :param annotated: the set.
    :param scorers: the scorers, by the names that tables print.
    :param columns: scores that were made elsewhere.
    :param variants: Q2 in other settings, for the tables of ablations and coverage.
    :param other_knowledge: whether to score responses against knowledge that is not
        theirs, too.
    :param rounds: rounds of every bootstrap.
    :param seed: seed of every random draw.
    :param progress: as for :func:`~parlai_q2.evaluate.scoring.score_pairs`.
    :param warn: called with each warning, a sentence for the user.
    :return: the scores, and their costs by scorer.
    :raises InputError: for a set without responses, or a column none of whose scores
        belongs to the set.
    """
    if not annotated.responses:
        raise InputError(f'The set {annotated.name} has no responses.')
    same: list[Pair] = []
    other: list[Pair] = []
    if other_knowledge:
        pool = [*annotated.responses, *annotated.crossed_responses]
        same = same_dialogue(annotated.responses, pool, seed)
        other = random_dialogue(annotated.responses, annotated.responses, seed)
    own = list(_own_pairs(annotated, seed))
    measures: dict[str, Measure] = {}
    costs: dict[str, Cost] = {}
    # Q2 comes first, since its scores contain those of Q2 without NLI.
    for name in sorted(scorers, key=lambda n: n.partition('@')[0] == Q2_F1):
        base, _, preset = name.partition('@')
        twin = measures.get(f'{Q2}@{preset}' if preset else Q2)
        if base == Q2_F1 and twin is not None:
            measures[name] = without_nli(twin, name, scorers[name])
        else:
            pairs = [*own, *same, *other]
            measures[name], costs[name] = score_pairs(
                name, scorers[name], pairs, progress
            )
    asked = [measures[name] for name in scorers]
    asked += [_matched(column, annotated, warn) for column in columns]
    varied = []
    for name, scorer in (variants or {}).items():
        pairs = [r.pair for r in annotated.responses]
        measure, costs[name] = score_pairs(name, scorer, pairs, progress)
        varied.append(measure)
    evaluation = Evaluation(
        annotated, tuple(asked), tuple(varied), tuple(same), tuple(other), rounds, seed
    )
    return evaluation, costs


def _own_pairs(annotated: AnnotatedSet, seed: int) -> Iterable[Pair]:
    yield from (r.pair for r in annotated.responses)
    for contrast in contrasts(annotated.crossed):
        yield contrast.consistent.pair
        yield contrast.inconsistent.pair
    for system in annotated.groups('system'):
        yield from (r.pair for r in random_sample(annotated, system, seed))


def _matched(column: Measure, annotated: AnnotatedSet, warn: Warn) -> Measure:
    known = column.known(annotated.responses)
    if not known:
        raise InputError(
            f'None of the scores of {column.name} belongs to a response of '
            f'{annotated.name}. The knowledge and responses in its file must match '
            'those of the set exactly.'
        )
    missing = len(annotated.responses) - len(known)
    if missing:
        warn(
            f'{column.name} has no score for {missing} of the '
            f'{len(annotated.responses)} responses of {annotated.name}; they are '
            'left out of its figures.'
        )
    crossed = annotated.crossed_responses
    missing = len(crossed) - len(column.known(crossed))
    if missing:
        warn(
            f'{column.name} has no score for {missing} of the {len(crossed)} '
            f'responses of {annotated.name} to contexts that several systems '
            'answered; it gets no system-level figures and none for random '
            'responses.'
        )
    return column
