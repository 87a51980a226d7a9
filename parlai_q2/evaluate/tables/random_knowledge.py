"""
Mean scores of responses against knowledge that is not theirs (Honovich et al. 2021,
Table 10).
"""

from typing import Optional, Sequence

from parlai_q2.evaluate.evaluation import Evaluation
from parlai_q2.evaluate.measure import Scored
from parlai_q2.evaluate.published import TABLE_10
from parlai_q2.evaluate.questions import questions
from parlai_q2.evaluate.random_knowledge import RANDOM_DIALOGUE, SAME_DIALOGUE
from parlai_q2.evaluate.table import OURS, PAPER, Cell, Column, Table, key

OWN = "the response's own"
Q2 = 'q2'


def random_knowledge_table(evaluation: Evaluation) -> Optional[Table]:
    """
    Mean scores against each response's own knowledge and against other knowledge.

    :return: None where nothing was scored against other knowledge.
    """
    if not (evaluation.same_dialogue or evaluation.random_dialogue):
        return None
    kinds: dict[str, Sequence[Scored]] = {
        OWN: evaluation.judged.responses,
        SAME_DIALOGUE: evaluation.same_dialogue,
        RANDOM_DIALOGUE: evaluation.random_dialogue,
    }
    # A column of a file has no scores against other knowledge.
    measures = [
        m
        for m in evaluation.measures
        if any(p in m for p in (*evaluation.same_dialogue, *evaluation.random_dialogue))
    ]
    if not evaluation.same_dialogue:
        del kinds[SAME_DIALOGUE]
    rows: list[dict[str, Cell]] = []
    for kind, responses in kinds.items():
        row: dict[str, Cell] = {'knowledge': kind, 'source': OURS}
        row['count'] = len(responses)
        for measure in measures:
            known = [r for r in responses if r in measure]
            row[measure.name] = evaluation.mean(measure, known)
            if measure.name == Q2:
                row['no_answer'] = questions(measure, known).no_answer
        rows.append(row)
        if kind in TABLE_10 and Q2 in (m.name for m in measures):
            mean, no_answer = TABLE_10[kind]
            paper: dict[str, Cell] = {Q2: mean, 'no_answer': no_answer}
            rows.append({'knowledge': kind, 'source': PAPER, **paper})
    columns = [key('knowledge'), Column('count', 'n')]
    for measure in measures:
        columns.append(Column(measure.name, measure.name, bounds=False))
        if measure.name == Q2:
            columns.append(Column('no_answer', 'no answer %', 1, 100))
    return Table(
        f'{evaluation.judged.name}_table_10',
        evaluation.title('Mean score with other knowledge', 'Table 10'),
        tuple(columns),
        tuple(rows),
        _notes(evaluation),
    )


def _notes(evaluation: Evaluation) -> tuple[str, ...]:
    notes = [
        'Random dialogue: knowledge of another dialogue of the set, drawn with seed '
        f'{evaluation.seed}.'
    ]
    if evaluation.same_dialogue:
        notes.insert(
            0,
            'Same dialogue: knowledge of another turn, for the '
            f'{len(evaluation.same_dialogue)} of '
            f'{len(evaluation.judged.responses)} responses whose dialogue has one '
            'in the files.',
        )
    return tuple(notes)
