"""
Mean scores by system and class (Honovich et al. 2021, Table 2).
"""

import random
from typing import Optional, Sequence

from parlai_q2.evaluate.evaluation import Evaluation
from parlai_q2.evaluate.judged import BINARY, CLASSES, Judged, JudgedSet
from parlai_q2.evaluate.published import table_2_row
from parlai_q2.evaluate.questions import questions
from parlai_q2.evaluate.table import OURS, PAPER, Cell, Column, Table, key
from parlai_q2.records import Label

# Responses in the random sample of each system.
SAMPLE = 150
RANDOM = 'random'
ALL = 'all'
Q2 = 'q2'
# The paper averages BERTScore's F1 before it is clipped to [0, 1].
PARTS = {'bertscore': 'f1'}
ORDER = (Label.INCONSISTENT, Label.CONSISTENT, Label.GENERIC)


def means_table(evaluation: Evaluation) -> Optional[Table]:
    """
    One row for each system and class. Where several systems answered the same contexts,
    each system also has a row for a random sample of its responses.

    :return: None for a set without classes.
    """
    if not evaluation.judged.of_classes(CLASSES):
        return None
    rows: list[dict[str, Cell]] = []
    for system, by_responses in _systems(evaluation).items():
        for name, responses in by_responses.items():
            # A mean over part of the random sample would be that of another sample.
            ours = _row(evaluation, responses, whole=name == RANDOM)
            paper = {}
            if evaluation.judged.name == 'q2_wow':
                paper = table_2_row(system, name)
            named: dict[str, Cell] = {'system': system, 'responses': name}
            rows.append({**named, 'source': OURS, **ours})
            if paper:
                rows.append({**named, 'source': PAPER, **paper})
    columns = [key('system'), key('responses'), Column('count', 'n')]
    for measure in evaluation.measures:
        if measure.name == Q2:
            columns += [
                Column('questions', '#questions'),
                Column('no_answer', 'no answer %', 1, 100),
            ]
        columns.append(Column(measure.name, measure.name, bounds=False))
    notes = [
        'Mean scores; intervals are in the JSON file.',
        *evaluation.notes_on_missing(evaluation.judged.of_classes(CLASSES)),
    ]
    drawn = [r['count'] for r in rows if r['responses'] == RANDOM and 'count' in r]
    if drawn:
        notes.append(
            f'Random: {drawn[0]} responses of the system, of either class, drawn with '
            f'seed {evaluation.seed} from the contexts that were annotated for all '
            "systems. The responses of the paper's own sample are not published."
        )
    return Table(
        f'{evaluation.judged.name}_table_2',
        evaluation.title('Mean scores by class', 'Table 2'),
        tuple(columns),
        tuple(rows),
        tuple(notes),
    )


def random_sample(judged: JudgedSet, system: str, seed: int) -> list[Judged]:
    """
    Sample responses of one system, of either class, to contexts that were annotated for
    all systems.

    :return: at most :data:`SAMPLE` responses; none where no context was annotated for
        several systems.
    """
    pool = [r for r in judged.crossed_responses if r.system == system]
    rng = random.Random(f'{RANDOM} {system} {seed}')
    return rng.sample(pool, min(SAMPLE, len(pool)))


def _systems(evaluation: Evaluation) -> dict[str, dict[str, Sequence[Judged]]]:
    # Sets with many systems have a table by system; here all of them count as one.
    systems = evaluation.judged.groups('system')
    if not evaluation.judged.crossed or not systems:
        systems = {ALL: list(evaluation.judged.responses)}
    found: dict[str, dict[str, Sequence[Judged]]] = {}
    for system, responses in systems.items():
        by_class: dict[str, Sequence[Judged]] = {}
        for label in ORDER:
            of_class = [r for r in responses if r.label == label]
            if of_class or label in BINARY:
                by_class[label] = of_class
        sample = random_sample(evaluation.judged, system, evaluation.seed)
        if sample:
            by_class[RANDOM] = sample
        found[system] = by_class
    return found


def _row(
    evaluation: Evaluation, responses: Sequence[Judged], whole: bool
) -> dict[str, Cell]:
    row: dict[str, Cell] = {'count': len(responses)}
    for measure in evaluation.measures:
        known = measure.known(responses)
        if whole and len(known) < len(responses):
            known = []
        part = PARTS.get(measure.name)
        if part and not all(part in measure.score(r).parts for r in known):
            part = None
        row[measure.name] = evaluation.mean(measure, known, part)
        if measure.name == Q2:
            asked = questions(measure, known)
            row['questions'], row['no_answer'] = asked.questions, asked.no_answer
    return row
