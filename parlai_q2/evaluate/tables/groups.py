"""
Mean scores and ranking by system, corpus and extractiveness (Dziri et al. 2022,
section 5).
"""

from typing import Mapping, Optional, Sequence

from parlai_q2.evaluate.density_groups import density_groups
from parlai_q2.evaluate.evaluation import Evaluation
from parlai_q2.evaluate.judged import CLASSES, Judged
from parlai_q2.evaluate.table import BRACKETS, Cell, Column, Table, key


def group_table(evaluation: Evaluation, by: str) -> Optional[Table]:
    """
    Group by ``system`` or ``corpus``.

    :return: None for a set with fewer than two groups, or without classes.
    """
    groups = evaluation.judged.groups(by)
    if len(groups) < 2 or not evaluation.judged.of_classes(CLASSES):
        return None
    return _table(evaluation, groups, by, ())


def density_table(evaluation: Evaluation) -> Optional[Table]:
    """
    Group by how much of the knowledge a response copies.

    :return: None for a set without classes.
    """
    judged = evaluation.judged.of_classes(CLASSES)
    if not judged:
        return None
    groups, (low, high) = density_groups(judged)
    note = (
        'Density: mean length, in tokens, of the copied run that a token of the '
        'response belongs to (Grusky et al. 2018). Groups are the thirds of the '
        f'set: low up to {low:.2f}, medium up to {high:.2f}.'
    )
    return _table(evaluation, groups, 'density', (note,))


def _table(
    evaluation: Evaluation,
    groups: Mapping[str, Sequence[Judged]],
    by: str,
    notes: tuple[str, ...],
) -> Table:
    classes = [c for c in CLASSES if evaluation.judged.of_classes([c])]
    rows: list[dict[str, Cell]] = []
    for measure in evaluation.measures:
        for name, responses in groups.items():
            level = evaluation.level(measure, responses)
            row: dict[str, Cell] = {'scorer': measure.name, by: name}
            row['roc_auc'] = level.figures['roc_auc']
            row['accuracy'] = level.figures['accuracy']
            counts = []
            for label in classes:
                known = measure.known([r for r in responses if r.label == label])
                counts.append(str(len(known)))
                row[label] = evaluation.mean(measure, known)
            row['count'] = '/'.join(counts)
            rows.append(row)
    columns = [
        key('scorer'),
        key(by),
        Column('roc_auc', 'ROC-AUC'),
        Column('accuracy', 'accuracy', bounds=False),
        *(Column(label, label, bounds=False) for label in classes),
        Column('count', 'n'),
    ]
    return Table(
        f'{evaluation.judged.name}_by_{by}',
        f'Scores by {by}, {evaluation.judged.title}',
        tuple(columns),
        tuple(rows),
        (
            *notes,
            *evaluation.notes_on_fit(),
            f'Columns {", ".join(classes)}: mean score of the class; n: number of '
            'responses of each class. ROC-AUC and accuracy: consistent against '
            'inconsistent.',
            BRACKETS,
        ),
    )
