"""Tables of responses: mean scores, classes at a threshold, ranking, and groups."""

from collections import Counter
from typing import Mapping, Optional, Sequence

from parlai_q2.evaluate.evaluation import Evaluation
from parlai_q2.evaluate.levels import level_difference, three_way
from parlai_q2.evaluate.measures import by_likeliest_class, questions
from parlai_q2.evaluate.published import (
    ACCURACY,
    BEGIN_MACRO_F1,
    ROME_EXPERT,
    TABLE_3,
    TABLE_6,
    table_2_row,
)
from parlai_q2.evaluate.sets import (
    BINARY,
    CLASSES,
    RANDOM,
    AnnotatedResponse,
    density_groups,
    random_sample,
)
from parlai_q2.evaluate.tables import BRACKETS, OURS, PAPER, Cell, Column, Table, key
from parlai_q2.records import Label

ALL = 'all'
Q2 = 'q2'
# The paper averages BERTScore's F1 before it is clipped to [0, 1].
PARTS = {'bertscore': 'f1'}
ORDER = (Label.INCONSISTENT, Label.CONSISTENT, Label.GENERIC)


def means_table(evaluation: Evaluation) -> Optional[Table]:
    """
    One row for each system and class. Where several systems answered the same contexts,
    each system also has a row for a random sample of its responses.
    """
    if not evaluation.annotated.of_classes(CLASSES):
        return None
    rows: list[dict[str, Cell]] = []
    for system, by_responses in _systems(evaluation).items():
        for name, responses in by_responses.items():
            # A mean over part of the random sample would be that of another sample.
            ours = _row(evaluation, responses, whole=name == RANDOM)
            paper = {}
            if evaluation.annotated.name == 'q2_wow':
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
        *evaluation.notes_on_missing(evaluation.annotated.of_classes(CLASSES)),
    ]
    drawn = [r['count'] for r in rows if r['responses'] == RANDOM and 'count' in r]
    if drawn:
        notes.append(
            f'Random: {drawn[0]} responses of the system, of either class, drawn with '
            f'seed {evaluation.seed} from the contexts that were annotated for all '
            "systems. The responses of the paper's own sample are not published."
        )
    return Table(
        f'{evaluation.annotated.name}_table_2',
        evaluation.title('Mean scores by class', 'Table 2'),
        tuple(columns),
        tuple(rows),
        tuple(notes),
    )


def _systems(
    evaluation: Evaluation,
) -> dict[str, dict[str, Sequence[AnnotatedResponse]]]:
    # Sets with many systems have a table by system; here all of them count as one.
    systems = evaluation.annotated.groups('system')
    if not evaluation.annotated.crossed or not systems:
        systems = {ALL: list(evaluation.annotated.responses)}
    found: dict[str, dict[str, Sequence[AnnotatedResponse]]] = {}
    for system, responses in systems.items():
        by_class: dict[str, Sequence[AnnotatedResponse]] = {}
        for label in ORDER:
            of_class = [r for r in responses if r.label == label]
            if of_class or label in BINARY:
                by_class[label] = of_class
        sample = random_sample(evaluation.annotated, system, evaluation.seed)
        if sample:
            by_class[RANDOM] = sample
        found[system] = by_class
    return found


def _row(
    evaluation: Evaluation, responses: Sequence[AnnotatedResponse], whole: bool
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


# Honovich et al. 2021, section 5.1.
PAPERS_THRESHOLD = 0.5
AT_THRESHOLD = (
    'A score of at most the threshold in the signature (0.5 unless it says otherwise) '
    'is inconsistent.'
)


def class_table(evaluation: Evaluation) -> Optional[Table]:
    """Precision, recall and F1 at the fixed threshold."""
    annotated = evaluation.annotated.of_classes()
    rows: list[dict[str, Cell]] = []
    expert = evaluation.annotated.name.startswith('rome_expert')
    merged = map(by_likeliest_class, evaluation.measures) if expert else ()
    for measure in (*evaluation.measures, *filter(None, merged)):
        if measure.threshold is None or not measure.known(annotated):
            continue
        level = evaluation.level(measure, annotated)
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
            if paper and evaluation.annotated.name == 'q2_wow':
                cells = dict(zip(('precision', 'recall', 'f1'), paper))
                rows.append(
                    {**named, 'source': PAPER, 'threshold': PAPERS_THRESHOLD, **cells}
                )
    if not rows:
        return None
    for name, by_class in ROME_EXPERT.items() if expert else ():
        for label, values in by_class.items():
            cells = dict(zip(('precision', 'recall', 'f1'), values))
            rows.append({'scorer': name, 'class': label, 'source': PAPER, **cells})
    return Table(
        f'{evaluation.annotated.name}_table_3',
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
            'At: a score of at most this is inconsistent.'
            + expert
            * ' Likeliest class: consistent where entailment is the likeliest '
            'of the three, as for the classifiers of Santhanam et al. 2021.',
            *evaluation.notes_on_missing(annotated),
            BRACKETS,
            *evaluation.notes_on_fit(),
        ),
    )


# Marks the rows of three classes by the paper's mapping.
AS_NLI = ', neutral as generic'


def three_way_table(evaluation: Evaluation) -> Optional[Table]:
    """
    F1 of the three classes, and macro precision, recall and F1 (Dziri et al. 2022,
    Table 5).
    """
    if not evaluation.annotated.of_classes([Label.GENERIC]):
        return None
    annotated = evaluation.annotated.of_classes(CLASSES)
    rows: list[dict[str, Cell]] = []
    without = []
    for measure in evaluation.measures:
        found = three_way(measure, annotated, evaluation.rounds, evaluation.seed)
        if found is None:
            without.append(measure.name)
        else:
            rows.append({'scorer': measure.name, 'source': OURS, **found})
        found = three_way(measure, annotated, evaluation.rounds, evaluation.seed, True)
        if found is not None:
            rows.append({'scorer': f'{measure.name}{AS_NLI}', 'source': OURS, **found})
    if not rows:
        return None
    if evaluation.annotated.name.startswith('begin'):
        for model, by_data in BEGIN_MACRO_F1.items():
            for data, value in by_data.items():
                rows.append(
                    {'scorer': f'{model}, {data}', 'source': PAPER, 'macro': value}
                )
    notes = [
        'Generic: a response that the scorer calls generic or not verifiable. Neutral '
        "as generic: the paper's mapping of the likeliest class of an NLI model.",
        BRACKETS,
        *evaluation.notes_on_fit(),
    ]
    if without:
        notes.append(f'Scorers of two classes, left out: {", ".join(without)}.')
    if any(row['source'] == PAPER for row in rows):
        notes.append(
            "The paper's classifiers were measured on its test set (Dziri et al. 2022)."
        )
    heads = {
        **{c: f'F1 {c}' for c in CLASSES},
        'macro_precision': 'macro P',
        'macro_recall': 'macro R',
        'macro': 'macro F1',
    }
    return Table(
        f'{evaluation.annotated.name}_three_way',
        f'Three classes, {evaluation.annotated.title}',
        (key('scorer'), *(Column(k, head) for k, head in heads.items())),
        tuple(rows),
        tuple(notes),
    )


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
    """One row for each scorer."""
    annotated = evaluation.annotated.of_classes()
    if not annotated:
        return None
    published = PUBLISHED_ACCURACY.get(evaluation.annotated.name, {})
    rows: list[dict[str, Cell]] = []
    for measure in evaluation.measures:
        level = evaluation.level(measure, annotated)
        figures = {name: level.figures[name] for name in FIGURES}
        rows.append({'scorer': measure.name, 'source': OURS, **figures})
        if measure.name in published:
            accuracy = published[measure.name]
            rows.append({'scorer': measure.name, 'source': PAPER, 'accuracy': accuracy})
    for name in published:
        # The paper's methods that are not scorers here.
        if ' ' in name:
            rows.append({'scorer': name, 'source': PAPER, 'accuracy': published[name]})
    count = Counter(r.label for r in annotated)
    notes = [
        f'{count[Label.CONSISTENT]} consistent and '
        f'{count[Label.INCONSISTENT]} inconsistent responses. AP: average '
        'precision of finding that class. A dash: not defined, such as ROC-AUC of '
        'one class.',
        AT_THRESHOLD,
        BRACKETS,
        *evaluation.notes_on_fit(),
    ]
    generic = len(evaluation.annotated.of_classes([Label.GENERIC]))
    if generic:
        notes.insert(
            1, f'{generic} generic responses belong to neither class and are left out.'
        )
    notes[1:1] = evaluation.notes_on_missing(annotated)
    columns = [Column(name, head) for name, head in FIGURES.items()]
    return Table(
        f'{evaluation.annotated.name}_ranking',
        f'Accuracy and ranking of responses, {evaluation.annotated.title}',
        (key('scorer'), *columns),
        tuple(rows),
        tuple(notes),
    )


def difference_table(evaluation: Evaluation) -> Optional[Table]:
    """The difference of each scorer to the one that was named first."""
    annotated = evaluation.annotated.of_classes()
    if not annotated or len(evaluation.measures) < 2:
        return None
    reference, *others = evaluation.measures
    rows: list[dict[str, Cell]] = []
    for measure in others:
        found = level_difference(
            measure, reference, annotated, evaluation.rounds, evaluation.seed
        )
        if found is not None:
            figures = {name: found[name] for name in DIFFERENCES}
            rows.append({'scorer': measure.name, 'source': OURS, **figures})
    if not rows:
        return None
    return Table(
        f'{evaluation.annotated.name}_differences',
        f'Differences from {reference.name}, {evaluation.annotated.title}',
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


def group_table(evaluation: Evaluation, by: str) -> Optional[Table]:
    """Group by ``system`` or ``corpus``."""
    groups = evaluation.annotated.groups(by)
    if len(groups) < 2 or not evaluation.annotated.of_classes(CLASSES):
        return None
    return _table(evaluation, groups, by, ())


def density_table(evaluation: Evaluation) -> Optional[Table]:
    """Group by how much of the knowledge a response copies."""
    annotated = evaluation.annotated.of_classes(CLASSES)
    if not annotated:
        return None
    groups, (low, high) = density_groups(annotated)
    note = (
        'Density: mean length, in tokens, of the copied run that a token of the '
        'response belongs to (Grusky et al. 2018). Groups are the thirds of the '
        f'set: low up to {low:.2f}, medium up to {high:.2f}.'
    )
    return _table(evaluation, groups, 'density', (note,))


def _table(
    evaluation: Evaluation,
    groups: Mapping[str, Sequence[AnnotatedResponse]],
    by: str,
    notes: tuple[str, ...],
) -> Table:
    classes = [c for c in CLASSES if evaluation.annotated.of_classes([c])]
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
        f'{evaluation.annotated.name}_by_{by}',
        f'Scores by {by}, {evaluation.annotated.title}',
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
