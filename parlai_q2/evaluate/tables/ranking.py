"""
Accuracy at the fixed threshold, ROC-AUC and average precision: numbers for what
Honovich et al. 2021, section 5.1, report and plot as curves.
"""

from typing import Optional

from parlai_q2.evaluate.evaluation import Evaluation
from parlai_q2.evaluate.published import ACCURACY, TABLE_6
from parlai_q2.evaluate.response_level import level_difference
from parlai_q2.evaluate.table import BRACKETS, OURS, PAPER, Cell, Column, Table, key
from parlai_q2.evaluate.tables.classes import AT_THRESHOLD
from parlai_q2.records import Label

DIFFERENCES = {'accuracy': 'accuracy', 'roc_auc': 'ROC-AUC'}
FIGURES = {
    'accuracy': 'accuracy',
    'roc_auc': 'ROC-AUC',
    'inconsistent_ap': 'AP inconsistent',
    'consistent_ap': 'AP consistent',
}
# By the name of the set.
PUBLISHED_ACCURACY = {'q2_wow': ACCURACY, 'dialogue_nli_gold': TABLE_6}


def ranking_table(evaluation: Evaluation) -> Optional[Table]:
    """
    One row for each scorer.

    :return: None for a set without the two classes.
    """
    judged = evaluation.judged.of_classes()
    if not judged:
        return None
    published = PUBLISHED_ACCURACY.get(evaluation.judged.name, {})
    rows: list[dict[str, Cell]] = []
    for measure in evaluation.measures:
        level = evaluation.level(measure, judged)
        figures = {name: level.figures[name] for name in FIGURES}
        rows.append({'scorer': measure.name, 'source': OURS, **figures})
        if measure.name in published:
            accuracy = published[measure.name]
            rows.append({'scorer': measure.name, 'source': PAPER, 'accuracy': accuracy})
    for name in published:
        # The paper's methods that are not scorers here.
        if ' ' in name:
            rows.append({'scorer': name, 'source': PAPER, 'accuracy': published[name]})
    count = {c: sum(r.label == c for r in judged) for c in {r.label for r in judged}}
    notes = [
        f'{count.get(Label.CONSISTENT, 0)} consistent and '
        f'{count.get(Label.INCONSISTENT, 0)} inconsistent responses. AP: average '
        'precision of finding that class. A dash: not defined, such as ROC-AUC of '
        'one class.',
        AT_THRESHOLD,
        BRACKETS,
        *evaluation.notes_on_fit(),
    ]
    generic = len(evaluation.judged.of_classes([Label.GENERIC]))
    if generic:
        notes.insert(
            1, f'{generic} generic responses belong to neither class and are left out.'
        )
    notes[1:1] = evaluation.notes_on_missing(judged)
    columns = [Column(name, head) for name, head in FIGURES.items()]
    return Table(
        f'{evaluation.judged.name}_ranking',
        f'Accuracy and ranking of responses, {evaluation.judged.title}',
        (key('scorer'), *columns),
        tuple(rows),
        tuple(notes),
    )


def difference_table(evaluation: Evaluation) -> Optional[Table]:
    """
    The difference of each scorer to the one that was named first.

    :return: None for a set without the two classes, or fewer than two scorers.
    """
    judged = evaluation.judged.of_classes()
    if not judged or len(evaluation.measures) < 2:
        return None
    reference, *others = evaluation.measures
    rows: list[dict[str, Cell]] = []
    for measure in others:
        found = level_difference(
            measure, reference, judged, evaluation.rounds, evaluation.seed
        )
        if found is not None:
            figures = {name: found[name] for name in DIFFERENCES}
            rows.append({'scorer': measure.name, 'source': OURS, **figures})
    if not rows:
        return None
    return Table(
        f'{evaluation.judged.name}_differences',
        f'Differences from {reference.name}, {evaluation.judged.title}',
        (key('scorer'), *(Column(name, head) for name, head in DIFFERENCES.items())),
        tuple(rows),
        (
            f'Below 0: {reference.name} is better. Both are computed on the same '
            'resamples of the responses that have both scores. If 0 is outside '
            'the brackets, the difference is more than chance. The intervals are '
            'not corrected for multiple comparisons.',
            BRACKETS,
            *evaluation.notes_on_fit(),
        ),
    )
