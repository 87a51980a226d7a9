"""Tables of systems, ratings, Q2's other settings, and other knowledge."""

from typing import Optional, Sequence

from parlai_q2.evaluate.evaluation import Evaluation
from parlai_q2.evaluate.levels import (
    PROPORTIONS,
    RESPONSES,
    SystemLevel,
    system_level,
)
from parlai_q2.evaluate.measures import Measure, Scored, passages, questions
from parlai_q2.evaluate.published import (
    TABLE_4,
    TABLE_5,
    TABLE_5_RATING,
    TABLE_7,
    TABLE_8,
    TABLE_9,
    TABLE_10,
)
from parlai_q2.evaluate.sets import (
    RANDOM_DIALOGUE,
    SAME_DIALOGUE,
    AnnotatedResponse,
    contrasts,
)
from parlai_q2.evaluate.statistics import correlation
from parlai_q2.evaluate.tables import BRACKETS, OURS, PAPER, Cell, Column, Table, key
from parlai_q2.records import Label


def system_levels(evaluation: Evaluation) -> list[tuple[Measure, SystemLevel]]:
    """
    The system level of each measure that has scored all of the contexts. Over fewer
    contexts, different systems would be simulated and the figures could not be
    compared.

    :return: empty for a set without contexts that were annotated for two systems.
    """
    found = []
    crossed = contrasts(evaluation.annotated.crossed)
    responses = [response for contrast in crossed for response in contrast]
    for measure in evaluation.measures:
        if crossed and len(measure.known(responses)) == len(responses):
            level = system_level(
                measure.values([c.consistent for c in crossed]).tolist(),
                measure.values([c.inconsistent for c in crossed]).tolist(),
                rounds=evaluation.rounds,
                seed=evaluation.seed,
            )
            found.append((measure, level))
    return found


def systems_table(evaluation: Evaluation) -> Optional[Table]:
    """One row for each scorer, with its mean rho."""
    rows: list[dict[str, Cell]] = []
    levels = system_levels(evaluation)
    if not levels:
        return None
    for measure, level in levels:
        row: dict[str, Cell] = {'scorer': measure.name, 'source': OURS}
        row.update(contexts=level.contexts, spearman=level.spearman)
        row['undefined'] = level.undefined
        row.update(zip(map(_share, PROPORTIONS), level.means, strict=True))
        rows.append(row)
        if measure.name in TABLE_4 and evaluation.annotated.name == 'q2_wow':
            paper = TABLE_4[measure.name]
            rows.append({'scorer': measure.name, 'source': PAPER, 'spearman': paper})
    if evaluation.annotated.name == 'q2_wow':
        rows += [
            {'scorer': name, 'source': PAPER, 'spearman': smaller}
            for name, smaller in TABLE_7.items()
        ]
    there = {measure.name for measure, _ in levels}
    absent = [m.name for m in evaluation.measures if m.name not in there]
    notes = []
    if absent:
        notes.append(
            f'Left out, for lack of scores for all these contexts: {", ".join(absent)}.'
        )
    return Table(
        f'{evaluation.annotated.name}_table_4',
        evaluation.title('System level: Spearman correlation', 'Tables 4 and 7'),
        (
            key('scorer'),
            Column('contexts', 'contexts'),
            Column('spearman', 'Spearman'),
            Column('undefined', 'undefined'),
            *(Column(_share(p), _share(p)) for p in PROPORTIONS),
        ),
        tuple(rows),
        (
            f'Simulated systems: {RESPONSES} contexts drawn with repetition from '
            'those with exactly one inconsistent response of two. The percentage '
            'columns are the mean score of a system with that share of '
            f'inconsistent responses. {evaluation.rounds} rounds, seed '
            f'{evaluation.seed}; the same draws for every scorer. Brackets: the '
            'middle 95 % of the rounds. Undefined: rounds in which all five '
            'scores were equal, which are left out.',
            *notes,
        ),
    )


def _share(proportion: float) -> str:
    return f'{proportion:.0%}'


def ratings_table(evaluation: Evaluation) -> Optional[Table]:
    """One row for each rating and scorer."""
    names = sorted({name for r in evaluation.annotated.responses for name in r.human})
    rows: list[dict[str, Cell]] = []
    for rating in names:
        rated = [r for r in evaluation.annotated.responses if rating in r.human]
        for measure in evaluation.measures:
            known = measure.known(rated)
            found = correlation(
                measure.values(known).tolist(),
                [r.human[rating] for r in known],
                evaluation.rounds,
                evaluation.seed,
                passages(known),
            )
            named: dict[str, Cell] = {'rating': rating, 'scorer': measure.name}
            rows.append(
                {
                    **named,
                    'source': OURS,
                    'count': found.responses,
                    'spearman': found.spearman,
                    'spearman_p': _p(found.spearman_p),
                    'pearson': found.pearson,
                    'pearson_p': _p(found.pearson_p),
                }
            )
        if _same(rating, TABLE_5_RATING):
            for name, (spearman, pearson) in TABLE_5.items():
                paper: dict[str, Cell] = {'spearman': spearman, 'pearson': pearson}
                rows.append(
                    {'rating': rating, 'scorer': name, 'source': PAPER, **paper}
                )
    if not rows:
        return None
    cited = ' (Q2, Table 5)' if any(r['source'] == PAPER for r in rows) else ''
    return Table(
        f'{evaluation.annotated.name}_table_5',
        f"Correlation with people's ratings, {evaluation.annotated.title}{cited}",
        (
            key('rating'),
            key('scorer'),
            Column('count', 'n'),
            Column('spearman', 'Spearman'),
            Column('spearman_p', 'p'),
            Column('pearson', 'Pearson'),
            Column('pearson_p', 'p'),
        ),
        tuple(rows),
        ('p: of no correlation, two-sided; in the paper all are below 0.001.', BRACKETS)
        if cited
        else ('p: of no correlation, two-sided.', BRACKETS),
    )


def _p(value: Optional[float]) -> Optional[str]:
    if value is None:
        return None
    return f'{value:.3f}' if value >= 0.001 else '< 0.001'


def _same(one: str, other: str) -> bool:
    return one.replace('_', ' ').lower() == other.lower()


# The classes in column headings.
SHORT = {Label.INCONSISTENT: 'incons.', Label.CONSISTENT: 'cons.'}
ALL = 'all'


def coverage_table(evaluation: Evaluation) -> Optional[Table]:
    """
    Questions, coverage and mean scores of Q2 in all its settings, by system and class.
    """
    if not evaluation.variants:
        return None
    annotated = evaluation.annotated
    systems = annotated.groups('system') if annotated.crossed else {}
    systems = systems or {ALL: list(annotated.responses)}
    published = {**TABLE_8, **TABLE_9} if annotated.name == 'q2_wow' else {}
    rows: list[dict[str, Cell]] = []
    for measure in _settings(evaluation):
        for system, responses in systems.items():
            for label in SHORT:
                known = measure.known([r for r in responses if r.label == label])
                row: dict[str, Cell] = {'setting': measure.name, 'source': OURS}
                row.update(
                    system=system, label=label, **questions(measure, known)._asdict()
                )
                row['q2'] = evaluation.mean(measure, known)
                row['q2_f1'] = _mean_without_nli(measure, known)
                rows.append(row)
    for setting, by_group in published.items():
        for (system, label), (coverage, *means) in by_group.items():
            named = {'setting': setting, 'system': system, 'label': label}
            figures = dict(zip(('q2', 'q2_f1'), means))
            rows.append({**named, 'source': PAPER, 'coverage': coverage, **figures})
    return Table(
        f'{annotated.name}_table_8',
        evaluation.title('Coverage of Q2 by setting', 'Tables 8 and 9'),
        (
            key('system'),
            key('label'),
            key('setting'),
            Column('responses', 'n'),
            Column('questions', '#questions'),
            Column('coverage', 'coverage %', 1, 100),
            Column('q2', 'q2', bounds=False),
            Column('q2_f1', 'q2_f1'),
        ),
        tuple(rows),
        (
            'Coverage: the share of responses that have a valid question. Settings are '
            'named by how they differ from q2.',
        ),
    )


def _mean_without_nli(
    measure: Measure, known: Sequence[AnnotatedResponse]
) -> Optional[float]:
    values = [measure.score(r).parts.get('q2_f1') for r in known]
    if not values or None in values:
        return None
    return float(measure.values(known, 'q2_f1').mean())


def ablations_table(evaluation: Evaluation) -> Optional[Table]:
    """
    Mean score by system and class, accuracy and ROC-AUC of Q2 in all its settings.
    """
    annotated = evaluation.annotated.of_classes()
    if not evaluation.variants or len({r.label for r in annotated}) < 2:
        return None
    systems = (
        evaluation.annotated.groups('system') if evaluation.annotated.crossed else {}
    )
    cells = {
        f'{system} {short}'.strip(): [r for r in responses if r.label == label]
        for system, responses in (systems or {'': annotated}).items()
        for label, short in SHORT.items()
    }
    rows: list[dict[str, Cell]] = []
    for measure in _settings(evaluation):
        level = evaluation.level(measure, annotated)
        row: dict[str, Cell] = {'setting': measure.name}
        for name, responses in cells.items():
            row[name] = evaluation.mean(measure, responses)
        row['accuracy'] = level.figures['accuracy']
        row['roc_auc'] = level.figures['roc_auc']
        rows.append(row)
    return Table(
        f'{evaluation.annotated.name}_table_9',
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


OWN = "the response's own"
Q2 = 'q2'


def random_knowledge_table(evaluation: Evaluation) -> Optional[Table]:
    """Mean scores against each response's own knowledge and against other knowledge."""
    if not (evaluation.same_dialogue or evaluation.random_dialogue):
        return None
    kinds: dict[str, Sequence[Scored]] = {
        OWN: evaluation.annotated.responses,
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
        f'{evaluation.annotated.name}_table_10',
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
            f'{len(evaluation.annotated.responses)} responses whose dialogue has one '
            'in the files.',
        )
    return tuple(notes)
