"""
Precision, recall and F1 of each class (Honovich et al. 2021, Table 3), and the F1 of
each of BEGIN's three classes (Dziri et al. 2022).
"""

from typing import Optional

from parlai_q2.evaluate.evaluation import Evaluation
from parlai_q2.evaluate.judged import CLASSES
from parlai_q2.evaluate.published import BEGIN_MACRO_F1, TABLE_3
from parlai_q2.evaluate.response_level import three_way
from parlai_q2.evaluate.table import BRACKETS, OURS, PAPER, Cell, Column, Table, key
from parlai_q2.records import Label

# Honovich et al. 2021, section 5.1.
PAPERS_THRESHOLD = 0.5
AT_THRESHOLD = (
    'A score of at most the threshold in the signature (0.5 unless it says otherwise) '
    'is inconsistent.'
)


def class_table(evaluation: Evaluation) -> Optional[Table]:
    """
    Precision, recall and F1 at the fixed threshold.

    :return: None for a set without the two classes, or where no scorer has a threshold.
    """
    judged = evaluation.judged.of_classes()
    rows: list[dict[str, Cell]] = []
    for measure in evaluation.measures:
        if measure.threshold is None or not measure.known(judged):
            continue
        level = evaluation.level(measure, judged)
        for label in (Label.INCONSISTENT, Label.CONSISTENT):
            named: dict[str, Cell] = {'scorer': measure.name, 'class': label}
            figures = {
                name: level.figures[f'{label}_{name}']
                for name in ('precision', 'recall', 'f1')
            }
            rows.append(
                {**named, 'source': OURS, 'threshold': measure.threshold, **figures}
            )
            paper = TABLE_3.get((measure.name, label))
            if paper and evaluation.judged.name == 'q2_wow':
                cells = dict(zip(('precision', 'recall', 'f1'), paper))
                rows.append(
                    {**named, 'source': PAPER, 'threshold': PAPERS_THRESHOLD, **cells}
                )
    if not rows:
        return None
    return Table(
        f'{evaluation.judged.name}_table_3',
        evaluation.title('Classes at a fixed threshold', 'Table 3'),
        (
            key('scorer'),
            key('class'),
            Column('threshold', 'at', decimals=2),
            Column('precision', 'precision'),
            Column('recall', 'recall'),
            Column('f1', 'F1'),
        ),
        tuple(rows),
        (
            'At: a score of at most this is inconsistent.',
            *evaluation.notes_on_missing(judged),
            BRACKETS,
            *evaluation.notes_on_fit(),
        ),
    )


def three_way_table(evaluation: Evaluation) -> Optional[Table]:
    """
    F1 of the three classes, and macro F1.

    :return: None for a set without generic responses, or where no scorer predicts that
        class.
    """
    if not evaluation.judged.of_classes([Label.GENERIC]):
        return None
    judged = evaluation.judged.of_classes(CLASSES)
    rows: list[dict[str, Cell]] = []
    without = []
    for measure in evaluation.measures:
        found = three_way(measure, judged, evaluation.rounds, evaluation.seed)
        if found is None:
            without.append(measure.name)
        else:
            rows.append({'scorer': measure.name, 'source': OURS, **found})
    if not rows:
        return None
    if evaluation.judged.name.startswith('begin'):
        for model, by_data in BEGIN_MACRO_F1.items():
            for data, value in by_data.items():
                rows.append(
                    {'scorer': f'{model}, {data}', 'source': PAPER, 'macro': value}
                )
    notes = [
        'Generic: a response that the scorer calls generic or not verifiable.',
        BRACKETS,
        *evaluation.notes_on_fit(),
    ]
    if without:
        notes.append(f'Scorers of two classes, left out: {", ".join(without)}.')
    if any(row['source'] == PAPER for row in rows):
        notes.append(
            "The paper's classifiers were measured on its test set (Dziri et al. 2022)."
        )
    heads = {**{c: f'F1 {c}' for c in CLASSES}, 'macro': 'macro F1'}
    return Table(
        f'{evaluation.judged.name}_three_way',
        f'Three classes, {evaluation.judged.title}',
        (key('scorer'), *(Column(k, head) for k, head in heads.items())),
        tuple(rows),
        tuple(notes),
    )
