"""
Q2 in other settings: coverage (Honovich et al. 2021, Table 8) and ablations (Table 9).
"""

from typing import Optional

from parlai_q2.evaluate.evaluation import Evaluation
from parlai_q2.evaluate.measure import Measure
from parlai_q2.evaluate.published import TABLE_8_COVERAGE
from parlai_q2.evaluate.questions import questions
from parlai_q2.evaluate.table import OURS, PAPER, Cell, Column, Table, key
from parlai_q2.records import Label

# The classes in column headings.
SHORT = {Label.INCONSISTENT: 'incons.', Label.CONSISTENT: 'cons.'}


def coverage_table(evaluation: Evaluation) -> Optional[Table]:
    """
    Questions and coverage of Q2 in all its settings.

    :return: None where Q2 was not run in other settings.
    """
    if not evaluation.variants:
        return None
    judged = evaluation.judged.responses
    rows: list[dict[str, Cell]] = []
    for measure in _settings(evaluation):
        asked = questions(measure, measure.known(judged))
        row: dict[str, Cell] = {'setting': measure.name, 'source': OURS}
        row.update(asked._asdict())
        row['each'] = asked.questions / asked.responses if asked.responses else None
        rows.append(row)
    low, high = TABLE_8_COVERAGE
    rows.append(
        {
            'setting': 'smaller QG and QA models',
            'source': PAPER,
            'coverage': f'{low:.0%} to {high:.0%}',
        }
    )
    return Table(
        f'{evaluation.judged.name}_table_8',
        evaluation.title('Coverage of Q2 by setting', 'Table 8'),
        (
            key('setting'),
            Column('responses', 'responses'),
            Column('questions', 'questions'),
            Column('each', 'a response', 2),
            Column('no_answer', 'no answer %', 1, 100),
            Column('coverage', 'coverage %', 1, 100),
        ),
        tuple(rows),
        ('Coverage: the share of responses that have a valid question.',),
    )


def ablations_table(evaluation: Evaluation) -> Optional[Table]:
    """
    Mean score by system and class, accuracy and ROC-AUC of Q2 in all its settings.

    :return: None where Q2 was not run in other settings, or the set lacks one of the
        two classes.
    """
    judged = evaluation.judged.of_classes()
    if not evaluation.variants or len({r.label for r in judged}) < 2:
        return None
    systems = evaluation.judged.groups('system') if evaluation.judged.crossed else {}
    cells = {
        f'{system} {short}'.strip(): [r for r in responses if r.label == label]
        for system, responses in (systems or {'': judged}).items()
        for label, short in SHORT.items()
    }
    rows: list[dict[str, Cell]] = []
    for measure in _settings(evaluation):
        level = evaluation.level(measure, judged)
        row: dict[str, Cell] = {'setting': measure.name}
        for name, responses in cells.items():
            row[name] = evaluation.mean(measure, responses)
        row['accuracy'] = level.figures['accuracy']
        row['roc_auc'] = level.figures['roc_auc']
        rows.append(row)
    return Table(
        f'{evaluation.judged.name}_table_9',
        evaluation.title('Ablations of Q2', 'Table 9'),
        (
            key('setting'),
            Column('roc_auc', 'ROC-AUC'),
            Column('accuracy', 'accuracy'),
            *(Column(name, name, bounds=False) for name in cells),
        ),
        tuple(rows),
        ('Rows are named by how they differ from q2. Class columns: mean scores.',),
    )


def _settings(evaluation: Evaluation) -> list[Measure]:
    asked = [m for m in evaluation.measures if m.name.partition('@')[0] == 'q2']
    return [*asked, *evaluation.variants]
