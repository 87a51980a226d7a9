"""Tables of responses: mean scores, classes at a threshold, and ranking."""

from collections import Counter
from collections.abc import Sequence

from parlai_q2.claims import Label
from parlai_q2.evaluate.evaluation import Evaluation
from parlai_q2.evaluate.levels import response_level, three_way
from parlai_q2.evaluate.measures import by_likeliest_class, likeliest, questions
from parlai_q2.evaluate.sets import (
    BINARY,
    CLASSES,
    RANDOM,
    AnnotatedResponse,
    by_system_and_class,
)
from parlai_q2.evaluate.tables import BRACKETS, Cell, Column, Rows, Table
from parlai_q2.text.class_map import Finding

Q2 = 'q2'
# The paper averages BERTScore's F1 before it is clipped to [0, 1].
PARTS = {'bertscore': 'f1'}


def means_table(evaluation: Evaluation) -> Table | None:
    """
    One row for each system and class. Where several systems answered the same contexts,
    each system also has a row for a random sample of its responses.
    """
    labelled = evaluation.annotated.of_classes(CLASSES)
    rows, drawn = Rows('system', 'responses'), 0
    groups = by_system_and_class(evaluation.annotated, evaluation.seed)
    for (system, name), responses in groups.items() if labelled else ():
        # A mean over part of the random sample would be that of another sample.
        cells = _cells(evaluation, responses, whole=name == RANDOM)
        rows.ours(system, name, **cells)
        if name == RANDOM:
            drawn = drawn or len(responses)
    columns = [Column('count', 'n')]
    for measure in evaluation.measures:
        if measure.name == Q2:
            columns.append(Column('questions', '#questions'))
            columns.append(Column('no_answer', 'no answer %', 1, 100))
        columns.append(Column(measure.name, measure.name, bounds=False))
    notes = [
        'Mean scores; intervals are in the JSON file.',
        *evaluation.notes_on_missing(labelled),
    ]
    if drawn:
        notes.append(
            f'Random: {drawn} responses of the system, of either class, drawn with '
            f'seed {evaluation.seed} from the contexts that were annotated for all '
            "systems. The responses of the paper's own sample are not published."
        )
    what = 'Mean scores by class'
    return rows.table(evaluation, 'table_2', what, columns, notes=[*notes])


def _cells(
    evaluation: Evaluation, responses: Sequence[AnnotatedResponse], whole: bool
) -> dict[str, Cell]:
    row: dict[str, Cell] = {'count': len(responses)}
    for measure in evaluation.measures:
        scored = measure.select_scored(responses)
        if whole and len(scored) < len(responses):
            scored = []
        part = PARTS.get(measure.name)
        if part and not all(part in measure.score(r).parts for r in scored):
            part = None
        row[measure.name] = evaluation.mean(measure, scored, part)
        if measure.name == Q2:
            counts = questions(measure, scored)
            row['questions'], row['no_answer'] = counts.questions, counts.no_answer
    return row


# The classes of fact checking, by those of an NLI model.
LIKELIEST = {
    Finding.ENTAILMENT: 'supported',
    Finding.NEUTRAL: 'not enough info',
    Finding.CONTRADICTION: 'refuted',
}

AT_THRESHOLD = (
    'A score of at most the threshold in the signature (0.5 unless it says otherwise) '
    'is inconsistent.'
)


def class_table(evaluation: Evaluation) -> Table | None:
    """Precision, recall and F1 at the fixed threshold."""
    annotated = evaluation.annotated.of_classes()
    rows, names = Rows('scorer', 'class'), ('precision', 'recall', 'f1')
    rome = evaluation.annotated.paper.startswith('rome')
    merged = map(by_likeliest_class, evaluation.measures) if rome else ()
    for measure in (*evaluation.measures, *filter(None, merged)):
        if measure.threshold is None or not measure.select_scored(annotated):
            continue
        level = evaluation.level(measure, annotated)
        for label in reversed(BINARY):
            metrics = {name: level[f'{label}_{name}'] for name in names}
            rows.ours(measure.name, label, threshold=measure.threshold, **metrics)
    columns = [Column('threshold', 'at', decimals=2)]
    columns += [Column(n, n.replace('f1', 'F1')) for n in names]
    at = 'At: a score of at most this is inconsistent.'
    if rome:
        at += (
            ' Likeliest class: consistent where entailment is the likeliest of the '
            'three, as for the classifiers of Santhanam et al. 2021.'
        )
    return rows.table(
        evaluation,
        'table_3',
        'Classes at a fixed threshold',
        columns,
        notes=[
            at,
            *evaluation.notes_on_missing(annotated),
            BRACKETS,
            *evaluation.notes_on_fit(),
        ],
    )


def likeliest_table(evaluation: Evaluation) -> Table | None:
    """
    The likeliest class of scorers with class probabilities, before the papers merge all
    but entailment (Santhanam et al. 2021, Table 5).
    """
    annotated = evaluation.annotated.of_classes()
    rows = Rows('scorer', 'class')
    rome = evaluation.annotated.paper.startswith('rome')
    for measure in evaluation.measures if rome else ():
        scored = measure.select_scored(annotated)
        for name in (*BINARY, 'all'):
            members = [r for r in scored if name in (r.label, 'all')]
            counts = Counter(likeliest(measure.score(r)) for r in members)
            if not members or None in counts:
                continue
            merged = counts[Finding.NEUTRAL] + counts[Finding.CONTRADICTION]
            rows.ours(
                measure.name,
                name,
                count=len(members),
                merged=counts[Finding.NEUTRAL] / merged if merged else None,
                **{str(f): counts[f] / len(members) for f in LIKELIEST},
            )
    columns = [Column('count', 'n')]
    columns += [Column(f, f'{head} %', 1, 100) for f, head in LIKELIEST.items()]
    columns.append(Column('merged', 'of the last two, not enough info %', 1, 100))
    what = 'Likeliest class'
    note = 'Supported is consistent; the other two are merged into inconsistent.'
    return rows.table(evaluation, 'likeliest', what, columns, notes=[note])


# Marks the rows of three classes by the paper's mapping.
AS_NLI = ', neutral as generic'


def three_way_table(evaluation: Evaluation) -> Table | None:
    """
    F1 of the three classes, and macro precision, recall and F1 (Dziri et al. 2022,
    Table 2).
    """
    if not evaluation.annotated.of_classes([Label.GENERIC]):
        return None
    annotated = evaluation.annotated.of_classes(CLASSES)
    rows, without = Rows('scorer'), []
    for measure in evaluation.measures:
        for by_nli in (False, True):
            metrics = three_way(
                measure, annotated, evaluation.rounds, evaluation.seed, by_nli
            )
            if metrics is not None:
                rows.ours(f'{measure.name}{AS_NLI if by_nli else ""}', **metrics)
            elif not by_nli:
                without.append(measure.name)
    notes = [
        'Generic: a response that the scorer calls generic or not verifiable. Neutral '
        "as generic: the paper's mapping of the likeliest class of an NLI model.",
        BRACKETS,
        *evaluation.notes_on_fit(),
    ]
    if without:
        notes.append(f'Scorers of two classes, left out: {", ".join(without)}.')
    heads = {
        **{c: f'F1 {c}' for c in CLASSES},
        'macro_precision': 'macro P',
        'macro_recall': 'macro R',
        'macro': 'macro F1',
    }
    columns = [Column(name, head) for name, head in heads.items()]
    return rows.table(evaluation, 'three_way', 'Three classes', columns, notes=[*notes])


DIFFERENCES = ('accuracy', 'roc_auc')
RANKING = {
    'accuracy': 'accuracy',
    'roc_auc': 'ROC-AUC',
    'inconsistent_ap': 'AP inconsistent',
    'consistent_ap': 'AP consistent',
}


def ranking_table(evaluation: Evaluation) -> Table | None:
    """One row for each scorer."""
    annotated = evaluation.annotated.of_classes()
    if not annotated:
        return None
    rows = Rows('scorer')
    for measure in evaluation.measures:
        level = evaluation.level(measure, annotated)
        rows.ours(measure.name, **{name: level[name] for name in RANKING})
    count = Counter(r.label for r in annotated)
    notes = [
        f'{count[Label.CONSISTENT]} consistent and '
        f'{count[Label.INCONSISTENT]} inconsistent responses. AP: average '
        'precision of finding that class. A dash: not defined, such as ROC-AUC of '
        'one class.',
        *evaluation.notes_on_missing(annotated),
    ]
    generic = len(evaluation.annotated.of_classes([Label.GENERIC]))
    if generic:
        notes.append(
            f'{generic} generic responses belong to neither class and are left out.'
        )
    notes += [AT_THRESHOLD, BRACKETS, *evaluation.notes_on_fit()]
    columns = [Column(name, head) for name, head in RANKING.items()]
    what = 'Accuracy and ranking of responses'
    return rows.table(evaluation, 'ranking', what, columns, notes=[*notes])


def difference_table(evaluation: Evaluation) -> Table | None:
    """The difference of each scorer to the one that was named first."""
    annotated = evaluation.annotated.of_classes()
    if not annotated:
        return None
    (reference, *compared), rows = evaluation.measures, Rows('scorer')
    for measure in compared:
        differences = response_level(
            measure, annotated, evaluation.rounds, evaluation.seed, reference
        )
        if any(differences.values()):
            rows.ours(measure.name, **{name: differences[name] for name in DIFFERENCES})
    return rows.table(
        evaluation,
        'differences',
        f'Differences from {reference.name}',
        [Column(name, RANKING[name]) for name in DIFFERENCES],
        notes=[
            f'Below 0: {reference.name} is better. Both are computed on the same '
            'resamples of the responses that have both scores. If 0 is outside '
            'the brackets, the difference is more than chance. The intervals are '
            'not corrected for multiple comparisons.',
            BRACKETS,
            *evaluation.notes_on_fit(),
        ],
    )
