"""
Runs the meta-evaluation of one set: scores its texts with every scorer.
"""

from typing import Callable, Iterable, Mapping, Optional, Sequence

from parlai_q2.bootstrap import ROUNDS, SEED
from parlai_q2.errors import InputError
from parlai_q2.evaluate.evaluation import Evaluation
from parlai_q2.evaluate.judged import JudgedSet, Pair, contrasts
from parlai_q2.evaluate.measure import Measure
from parlai_q2.evaluate.random_knowledge import random_dialogue, same_dialogue
from parlai_q2.evaluate.scoring import Cost, Progress, score_pairs, without_nli
from parlai_q2.evaluate.tables.means import random_sample
from parlai_q2.scorers.base import Scorer

Q2, Q2_F1 = 'q2', 'q2_f1'
Warn = Callable[[str], None]


def evaluate(
    judged: JudgedSet,
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

    :param judged: the set.
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
    if not judged.responses:
        raise InputError(f'The set {judged.name} has no responses.')
    same: list[Pair] = []
    other: list[Pair] = []
    if other_knowledge:
        pool = [*judged.responses, *judged.crossed_responses]
        same = same_dialogue(judged.responses, pool, seed)
        other = random_dialogue(judged.responses, judged.responses, seed)
    own = list(_own_pairs(judged, seed))
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
    asked += [_matched(column, judged, warn) for column in columns]
    varied = []
    for name, scorer in (variants or {}).items():
        pairs = [r.pair for r in judged.responses]
        measure, costs[name] = score_pairs(name, scorer, pairs, progress)
        varied.append(measure)
    evaluation = Evaluation(
        judged, tuple(asked), tuple(varied), tuple(same), tuple(other), rounds, seed
    )
    return evaluation, costs


def _own_pairs(judged: JudgedSet, seed: int) -> Iterable[Pair]:
    yield from (r.pair for r in judged.responses)
    for contrast in contrasts(judged.crossed):
        yield contrast.consistent.pair
        yield contrast.inconsistent.pair
    for system in judged.groups('system'):
        yield from (r.pair for r in random_sample(judged, system, seed))


def _matched(column: Measure, judged: JudgedSet, warn: Warn) -> Measure:
    known = column.known(judged.responses)
    if not known:
        raise InputError(
            f'None of the scores of {column.name} belongs to a response of '
            f'{judged.name}. The knowledge and responses in its file must match '
            'those of the set exactly.'
        )
    missing = len(judged.responses) - len(known)
    if missing:
        warn(
            f'{column.name} has no score for {missing} of the {len(judged.responses)} '
            f'responses of {judged.name}; they are left out of its figures.'
        )
    crossed = judged.crossed_responses
    missing = len(crossed) - len(column.known(crossed))
    if missing:
        warn(
            f'{column.name} has no score for {missing} of the {len(crossed)} '
            f'responses of {judged.name} to contexts that several systems '
            'answered; it gets no system-level figures and none for random '
            'responses.'
        )
    return column
