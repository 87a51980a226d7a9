"""Tables of systems, ratings, Q2's other settings, and other knowledge."""

from collections.abc import Sequence
from dataclasses import replace

from parlai_q2.claims import Label
from parlai_q2.evaluate.evaluation import Evaluation
from parlai_q2.evaluate.levels import PROPORTIONS, RESPONSES, system_level
from parlai_q2.evaluate.measures import Measure, Scored, passages, questions
from parlai_q2.evaluate.sets import (
    RANDOM_DIALOGUE,
    SAME_DIALOGUE,
    AnnotatedResponse,
    by_system_and_class,
    contrasts,
)
from parlai_q2.evaluate.statistics import correlation
from parlai_q2.evaluate.tables import BRACKETS, PAPER, Cell, Column, Rows, Table


def systems_table(evaluation: Evaluation) -> Table | None:
    """
    The mean rho of each scorer that has scored all contexts of two systems; over fewer,
    other systems would be simulated.
    """
    rows = Rows('scorer')
    crossed = contrasts(evaluation.annotated.crossed)
    responses = [response for contrast in crossed for response in contrast]
    absent = []
    for measure in evaluation.measures if crossed else ():
        if len(measure.select_scored(responses)) < len(responses):
            absent.append(measure.name)
            continue
        level = system_level(
            measure.values([c.consistent for c in crossed]).tolist(),
            measure.values([c.inconsistent for c in crossed]).tolist(),
            rounds=evaluation.rounds,
            seed=evaluation.seed,
        )
        rows.ours(
            measure.name,
            contexts=len(crossed),
            spearman=level.spearman,
            undefined=level.undefined,
            **dict(zip(map(_share, PROPORTIONS), level.means, strict=True)),
        )
    notes = []
    if absent:
        notes.append(
            f'Left out, for lack of scores for all these contexts: {", ".join(absent)}.'
        )
    return rows.table(
        evaluation,
        'table_4',
        'System level: Spearman correlation',
        [
            Column('contexts', 'contexts'),
            Column('spearman', 'Spearman'),
            Column('undefined', 'undefined'),
            *(Column(_share(p), _share(p)) for p in PROPORTIONS),
        ],
        notes=[
            f'Simulated systems: {RESPONSES} contexts drawn with repetition from '
            'those with exactly one inconsistent response of two. The percentage '
            'columns are the mean score of a system with that share of '
            f'inconsistent responses. {evaluation.rounds} rounds, seed '
            f'{evaluation.seed}; the same draws for every scorer. Brackets: the '
            'middle 95 % of the rounds. Undefined: rounds in which all five '
            'scores were equal, which are left out.',
            *notes,
        ],
    )


def _share(proportion: float) -> str:
    return f'{proportion:.0%}'


def ratings_table(evaluation: Evaluation) -> Table | None:
    """One row for each rating and scorer."""
    rows = Rows('rating', 'scorer')
    responses = evaluation.annotated.responses
    for rating in sorted({name for r in responses for name in r.human}):
        rated = [r for r in responses if rating in r.human]
        for measure in evaluation.measures:
            scored = measure.select_scored(rated)
            result = correlation(
                measure.values(scored).tolist(),
                [r.human[rating] for r in scored],
                evaluation.rounds,
                evaluation.seed,
                passages(scored),
            )
            rows.ours(
                rating,
                measure.name,
                count=result.responses,
                spearman=result.spearman,
                spearman_p=_p(result.spearman_p),
                pearson=result.pearson,
                pearson_p=_p(result.pearson_p),
            )
    table = rows.table(
        evaluation,
        'table_5',
        "Correlation with people's ratings",
        [
            Column('count', 'n'),
            Column('spearman', 'Spearman'),
            Column('spearman_p', 'p'),
            Column('pearson', 'Pearson'),
            Column('pearson_p', 'p'),
        ],
        notes=['p: of no correlation, two-sided.', BRACKETS],
    )
    if table and any(row['source'] == PAPER for row in table.rows):
        table = replace(table, title=f'{table.title} (Q2, Table 5)')
    return table


def _p(value: float | None) -> str | None:
    if value is None:
        return None
    return f'{value:.3f}' if value >= 0.001 else '< 0.001'


# The classes in column headings.
SHORT: dict[str, str] = {Label.INCONSISTENT: 'incons.', Label.CONSISTENT: 'cons.'}
OWN_KNOWLEDGE, Q2 = "the response's own", 'q2'


def coverage_table(evaluation: Evaluation) -> Table | None:
    """
    Questions, coverage and mean scores of Q2 in all its settings, by system and class.
    """
    annotated, rows = evaluation.annotated, Rows('system', 'label', 'setting')
    groups = by_system_and_class(annotated, evaluation.seed)
    for measure in _settings(evaluation):
        for (system, label), responses in groups.items():
            if label in SHORT:
                scored = measure.select_scored(responses)
                rows.ours(
                    system,
                    label,
                    measure.name,
                    **questions(measure, scored)._asdict(),
                    q2=evaluation.mean(measure, scored),
                    q2_f1=_mean_without_nli(measure, scored),
                )
    return rows.table(
        evaluation,
        'table_8',
        'Coverage of Q2 by setting',
        [
            Column('responses', 'n'),
            Column('questions', '#questions'),
            Column('coverage', 'coverage %', 1, 100),
            Column('q2', 'q2', bounds=False),
            Column('q2_f1', 'q2_f1'),
        ],
        notes=[
            'Coverage: the share of responses that have a valid question. Settings are '
            'named by how they differ from q2.'
        ],
    )


def _mean_without_nli(
    measure: Measure, scored: Sequence[AnnotatedResponse]
) -> float | None:
    values = [measure.score(r).parts.get('q2_f1') for r in scored]
    if not values or None in values:
        return None
    return float(measure.values(scored, 'q2_f1').mean())


def ablations_table(evaluation: Evaluation) -> Table | None:
    """
    Mean score by system and class, accuracy and ROC-AUC of Q2 in all its settings.
    """
    annotated = evaluation.annotated.of_classes()
    if len({r.label for r in annotated}) < 2:
        return None
    by_class = by_system_and_class(evaluation.annotated, evaluation.seed)
    groups = {
        f'{system} {SHORT[label]}': responses
        for (system, label), responses in by_class.items()
        if label in SHORT
    }
    rows = Rows('setting')
    for measure in _settings(evaluation):
        level = evaluation.level(measure, annotated)
        means = {n: evaluation.mean(measure, group) for n, group in groups.items()}
        cells = {name: level[name] for name in ('accuracy', 'roc_auc')}
        rows.ours(measure.name, **means, **cells)
    columns = [Column('roc_auc', 'ROC-AUC'), Column('accuracy', 'accuracy')]
    columns += [Column(name, name, bounds=False) for name in groups]
    note = 'Rows are named by how they differ from q2. Class columns: mean scores.'
    what = 'Ablations of Q2'
    return rows.table(evaluation, 'table_9', what, columns, notes=[note])


def _settings(evaluation: Evaluation) -> list[Measure]:
    """Q2 and its variants; empty if there are no variants."""
    by_q2 = [m for m in evaluation.measures if m.name.partition('@')[0] == Q2]
    return [*by_q2, *evaluation.variants] if evaluation.variants else []


def random_knowledge_table(evaluation: Evaluation) -> Table | None:
    """Mean scores against each response's own knowledge and against other knowledge."""
    same, other = evaluation.same_dialogue, evaluation.random_dialogue
    if not (same or other):
        return None
    kinds: dict[str, Sequence[Scored]] = {OWN_KNOWLEDGE: evaluation.annotated.responses}
    notes = []
    if same:
        kinds[SAME_DIALOGUE] = same
        notes.append(
            f'Same dialogue: knowledge of another turn, for the {len(same)} of '
            f'{len(evaluation.annotated.responses)} responses whose dialogue has one '
            'in the files.'
        )
    kinds[RANDOM_DIALOGUE] = other
    notes.append(
        'Random dialogue: knowledge of another dialogue of the set, drawn with seed '
        f'{evaluation.seed}.'
    )
    # A column of a file has no scores against other knowledge.
    measures = [m for m in evaluation.measures if any(p in m for p in (*same, *other))]
    rows = Rows('knowledge')
    for kind, responses in kinds.items():
        scored = {m.name: [r for r in responses if r in m] for m in measures}
        means = {m.name: evaluation.mean(m, scored[m.name]) for m in measures}
        cells: dict[str, Cell] = {'count': len(responses), **means}
        for measure in measures:
            if measure.name == Q2:
                cells['no_answer'] = questions(measure, scored[Q2]).no_answer
        rows.ours(kind, **cells)
    columns = [Column('count', 'n')]
    for measure in measures:
        columns.append(Column(measure.name, measure.name, bounds=False))
        if measure.name == Q2:
            columns.append(Column('no_answer', 'no answer %', 1, 100))
    what = 'Mean score with other knowledge'
    return rows.table(evaluation, 'table_10', what, columns, notes=[*notes])
