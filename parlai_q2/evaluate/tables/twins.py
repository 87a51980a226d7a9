"""A table of twins: how well scores tell a wrong response from a right one."""

from parlai_q2.claims import Label
from parlai_q2.evaluate.evaluation import Evaluation
from parlai_q2.evaluate.measures import Measure
from parlai_q2.evaluate.sets import AnnotatedResponse
from parlai_q2.evaluate.tables import Cell, Column, Rows, Table
from parlai_q2.intervals import mean_interval

# The field of a response that says which twin it belongs to.
TWIN = 'twin'
ALL = 'all'
Twin = tuple[AnnotatedResponse, AnnotatedResponse]


def twins_of(responses: list[AnnotatedResponse]) -> list[Twin]:
    """The twins among responses, each its right and its wrong one."""
    by_twin: dict[object, dict[str, AnnotatedResponse]] = {}
    for response in responses:
        if TWIN in response.more:
            by_twin.setdefault(response.more[TWIN], {})[response.label] = response
    return [
        (sides[Label.CONSISTENT], sides[Label.INCONSISTENT])
        for sides in by_twin.values()
        if {Label.CONSISTENT, Label.INCONSISTENT} <= sides.keys()
    ]


def twins_table(evaluation: Evaluation) -> Table | None:
    """For each kind and scorer, the shares seen, in order and kept."""
    twins = twins_of(list(evaluation.annotated.responses))
    kinds = list(dict.fromkeys(right.corpus for right, _ in twins))
    rows = Rows('kind', 'scorer')
    for kind in kinds + [ALL] * (len(kinds) > 1):
        members = [t for t in twins if kind in (ALL, t[0].corpus)]
        for measure in evaluation.measures:
            if cells := _cells(measure, members, evaluation):
                rows.ours(kind, measure.name, **cells)
    return rows.table(
        evaluation,
        'twins',
        'Twins by kind',
        [
            Column('twins', 'twins'),
            Column('wrong', 'wrong seen', 2),
            Column('order', 'order', 2),
            Column('kept', 'right kept', 2),
            Column('generic', 'wrong called generic', 2),
        ],
        notes=[
            "Wrong seen: wrong responses at or below the scorer's threshold. Order: "
            'right ones above their wrong twin, ties count half. Right kept: right '
            'ones above the threshold.',
            'Brackets: 95 % bootstrap interval over twins.',
        ],
    )


def _cells(
    measure: Measure, twins: list[Twin], evaluation: Evaluation
) -> dict[str, Cell]:
    twins = [t for t in twins if t[0] in measure and t[1] in measure]
    if not twins:
        return {}
    rounds, seed = evaluation.rounds, evaluation.seed
    values = [[measure.score(response).value for response in twin] for twin in twins]

    def share(shares: list[float]) -> Cell:
        return mean_interval(shares, rounds=rounds, seed=seed)

    cells: dict[str, Cell] = {
        'twins': len(twins),
        'order': share([(r > w) + 0.5 * (r == w) for r, w in values]),
    }
    if (threshold := measure.threshold) is not None:
        cells['wrong'] = share([float(w <= threshold) for _, w in values])
        cells['kept'] = share([float(r > threshold) for r, _ in values])
    labels = [measure.score(response).label for _, response in twins]
    cells['generic'] = sum(label == Label.GENERIC for label in labels) / len(labels)
    return cells
