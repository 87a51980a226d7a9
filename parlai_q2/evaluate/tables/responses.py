"""
Tables of responses: mean scores, classes at a threshold, ranking, and all of them by
system, corpus and density (Dziri et al. 2022, Figures 7 to 9).
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from parlai_q2.claims import Label
from parlai_q2.evaluate.evaluation import Evaluation
from parlai_q2.evaluate.levels import response_level, three_way
from parlai_q2.evaluate.measures import (
    ScoreTable,
    by_likeliest_class,
    likeliest,
    questions,
)
from parlai_q2.evaluate.sets import (
    BINARY,
    CLASSES,
    RANDOM,
    AnnotatedResponse,
    by_system_and_class,
    density_groups,
)
from parlai_q2.evaluate.tables import Rows
from parlai_q2.tables import Cell, Table
from parlai_q2.text.class_map import Finding

Q2 = 'q2'
# The paper averages BERTScore's F1 before it is clipped to [0, 1].
PARTS = {'bertscore': 'f1'}


def means_table(evaluation: Evaluation) -> Table | None:
    """Mean scores by system and class, and of a random sample of each system."""
    labelled = evaluation.annotated.of_classes(CLASSES)
    rows, drawn = Rows(evaluation, 'table_2'), 0
    groups = by_system_and_class(evaluation.annotated, evaluation.seed)
    for (system, name), responses in groups.items() if labelled else ():
        # A mean over part of the random sample would be that of another sample.
        rows.ours(system, name, **_means(evaluation, responses, name == RANDOM))
        drawn = drawn or len(responses) * (name == RANDOM)
    random = (
        f'Random: {drawn} responses of the system, of either class, drawn with seed '
        f'{evaluation.seed} from the contexts that were annotated for all systems. The '
        "responses of the paper's own sample are not published."
    )
    return rows.table(missing_of=labelled, random=random if drawn else '')


def _means(
    evaluation: Evaluation, responses: Sequence[AnnotatedResponse], whole: bool
) -> dict[str, Cell]:
    row: dict[str, Cell] = {'count': len(responses)}
    for measure in evaluation.measures:
        scored = measure.select_scored(responses)
        if whole and len(scored) < len(responses):
            scored = []
        scorer, at, preset = measure.name.partition('@')
        if scorer == Q2:
            counts = questions(measure, scored)
            names = ('questions', 'no_answer')
            row |= {f'{name}{at}{preset}': counts[name] for name in names}
        part = PARTS.get(scorer)
        if part and not all(part in measure.score(r).parts for r in scored):
            part = None
        row[measure.name] = evaluation.mean(measure, scored, part)
    return row


def class_table(evaluation: Evaluation) -> Table | None:
    """Precision, recall and F1 at the threshold; for Rome by likeliest class, too."""
    annotated = evaluation.annotated.of_classes()
    rows = Rows(evaluation, 'table_3')
    rome = evaluation.annotated.paper.startswith('rome')
    merged = map(by_likeliest_class, evaluation.measures) if rome else ()
    for measure in (*evaluation.measures, *filter(None, merged)):
        if measure.threshold is None or not measure.select_scored(annotated):
            continue
        level = evaluation.level(measure, annotated)
        for label in reversed(BINARY):
            names = ('precision', 'recall', 'f1')
            metrics = {name: level[f'{label}_{name}'] for name in names}
            rows.ours(measure.name, label, threshold=measure.threshold, **metrics)
    note = (
        ' Likeliest class: consistent where entailment is the likeliest of the three, '
        'as for the classifiers of Santhanam et al. 2021.'
    )
    return rows.table(missing_of=annotated, rome=note if rome else '')


def likeliest_table(evaluation: Evaluation) -> Table | None:
    """
    The likeliest class before classes are merged (Santhanam et al. 2021, Table 5).
    """
    annotated = evaluation.annotated.of_classes()
    rows = Rows(evaluation, 'likeliest')
    rome = evaluation.annotated.paper.startswith('rome')
    for measure in evaluation.measures if rome else ():
        scored = measure.select_scored(annotated)
        for name in (*BINARY, 'all'):
            members = [r for r in scored if name in (r.label, 'all')]
            counts = Counter(likeliest(measure.score(r)) for r in members)
            if not members or None in counts:
                continue
            merged = counts[Finding.NEUTRAL] + counts[Finding.CONTRADICTION]
            stated = (Finding.ENTAILMENT, Finding.NEUTRAL, Finding.CONTRADICTION)
            rows.ours(
                measure.name,
                name,
                count=len(members),
                merged=counts[Finding.NEUTRAL] / merged if merged else None,
                **{str(f): counts[f] / len(members) for f in stated},
            )
    return rows.table()


# Marks the rows of three classes by the paper's mapping.
AS_NLI = ', neutral as generic'


def three_way_table(evaluation: Evaluation) -> Table | None:
    """F1 of the three classes, and macro metrics (Dziri et al. 2022, Table 2)."""
    if not evaluation.annotated.of_classes([Label.GENERIC]):
        return None
    annotated = evaluation.annotated.of_classes(CLASSES)
    rows, without = Rows(evaluation, 'three_way'), []
    for measure in evaluation.measures:
        for by_nli in (False, True):
            metrics = three_way(
                measure, annotated, evaluation.rounds, evaluation.seed, by_nli
            )
            if metrics is not None:
                rows.ours(f'{measure.name}{AS_NLI if by_nli else ""}', **metrics)
            elif not by_nli:
                without.append(measure.name)
    note = f'Scorers of two classes, left out: {", ".join(without)}.'
    return rows.table(two_classes=note if without else '')


RANKING = ('accuracy', 'roc_auc', 'inconsistent_ap', 'consistent_ap')


def ranking_table(evaluation: Evaluation) -> Table | None:
    """Accuracy, ROC-AUC and average precision of each scorer."""
    annotated = evaluation.annotated.of_classes()
    if not annotated:
        return None
    rows = Rows(evaluation, 'ranking')
    for measure in evaluation.measures:
        level = evaluation.level(measure, annotated)
        rows.ours(measure.name, **{name: level[name] for name in RANKING})
    count = Counter(r.label for r in annotated)
    generic = len(evaluation.annotated.of_classes([Label.GENERIC]))
    note = f'{generic} generic responses belong to neither class and are left out.'
    return rows.table(
        missing_of=annotated,
        consistent=count[Label.CONSISTENT],
        inconsistent=count[Label.INCONSISTENT],
        generic=note if generic else '',
    )


def difference_table(evaluation: Evaluation) -> Table | None:
    """How much each scorer's metrics differ from those of the scorer named first."""
    annotated = evaluation.annotated.of_classes()
    if not annotated:
        return None
    reference, *compared = evaluation.measures
    rows = Rows(evaluation, 'differences', reference=reference.name)
    for measure in compared:
        differences = response_level(
            measure, annotated, evaluation.rounds, evaluation.seed, reference
        )
        if any(differences.values()):
            rows.ours(measure.name, **{name: differences[name] for name in RANKING[:2]})
    return rows.table()


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
    """F1 of both classes by corpus, and the macro F1 where there are three."""
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
    evaluation: Evaluation, measure: ScoreTable, responses: Sequence[AnnotatedResponse]
) -> Cell:
    labelled = [r for r in measure.select_scored(responses) if r.label in CLASSES]
    if len({r.label for r in labelled}) < len(CLASSES):
        return None
    metrics = three_way(measure, labelled, evaluation.rounds, evaluation.seed)
    return metrics['macro'] if metrics else None
