"""
Tables of responses by system, corpus and density (Dziri et al. 2022, Figures 7 to 9).
"""

from collections.abc import Mapping, Sequence

from parlai_q2.evaluate.evaluation import Evaluation
from parlai_q2.evaluate.levels import three_way
from parlai_q2.evaluate.measures import Measure
from parlai_q2.evaluate.sets import BINARY, CLASSES, AnnotatedResponse, density_groups
from parlai_q2.evaluate.tables import Rows
from parlai_q2.tables import Cell, Table


def system_table(evaluation: Evaluation) -> Table | None:
    """Group by the system, if there are several."""
    groups = evaluation.annotated.groups('system')
    return _grouped(evaluation, groups, 'system') if len(groups) > 1 else None


def corpus_table(evaluation: Evaluation) -> Table | None:
    """Group by the corpus, if there are several."""
    groups = evaluation.annotated.groups('corpus')
    return _grouped(evaluation, groups, 'corpus') if len(groups) > 1 else None


def density_table(evaluation: Evaluation) -> Table | None:
    """Group by how much of the knowledge a response copies."""
    groups, (low, high) = density_groups(evaluation.annotated.of_classes(CLASSES))
    note = (
        'Density: mean length, in tokens, of the copied run that a token of the '
        'response belongs to (Grusky et al. 2018): low is abstractive, high '
        f'extractive. Groups are the thirds of the set: low up to {low:.2f}, medium up '
        f'to {high:.2f}.'
    )
    return _grouped(evaluation, groups, 'density', note)


def _grouped(
    evaluation: Evaluation,
    groups: Mapping[str, Sequence[AnnotatedResponse]],
    by: str,
    cuts: str = '',
) -> Table | None:
    classes = [c for c in CLASSES if evaluation.annotated.of_classes([c])]
    rows = Rows(evaluation, 'by', by=by)
    for measure in evaluation.measures if classes else ():
        for name, responses in groups.items():
            level = evaluation.level(measure, responses)
            scored = {}
            for c in classes:
                members = [response for response in responses if response.label == c]
                scored[c] = measure.select_scored(members)
            rows.ours(
                measure.name,
                name,
                roc_auc=level['roc_auc'],
                accuracy=level['accuracy'],
                **{c: evaluation.mean(measure, scored[c]) for c in classes},
                count='/'.join(str(len(scored[c])) for c in classes),
            )
    return rows.table(cuts=cuts, classes=', '.join(classes))


def f1_table(evaluation: Evaluation) -> Table | None:
    """
    F1 of both classes by corpus, and the mean F1 of three classes in the corpora that
    have them.
    """
    corpora = evaluation.annotated.groups('corpus')
    rows = Rows(evaluation, 'f1_by_corpus')
    for measure in evaluation.measures if len(corpora) > 1 else ():
        if measure.threshold is None:
            continue
        for name, responses in corpora.items():
            level = evaluation.level(measure, responses)
            cells: dict[str, Cell] = {c: level[f'{c}_f1'] for c in BINARY}
            if any(cells.values()):
                cells['macro'] = _macro(evaluation, measure, responses)
                rows.ours(measure.name, name, **cells)
    return rows.table()


def _macro(
    evaluation: Evaluation, measure: Measure, responses: Sequence[AnnotatedResponse]
) -> Cell:
    labelled = [r for r in measure.select_scored(responses) if r.label in CLASSES]
    if len({r.label for r in labelled}) < len(CLASSES):
        return None
    metrics = three_way(measure, labelled, evaluation.rounds, evaluation.seed)
    return metrics['macro'] if metrics else None
