"""
Tables of systems, ratings, Q2's other settings and other knowledge; and of generators
by knowledge, decoding and size (Santhanam et al. 2021): how factual people say they are
and how often they make something up (Tables 2 and 7), and how well scorers detect their
consistent and inconsistent responses (Tables 4, 6 and 8 to 12).
"""

from collections.abc import Sequence
from itertools import chain
from typing import Any

from parlai_q2.claims import Label
from parlai_q2.evaluate.evaluation import Evaluation
from parlai_q2.evaluate.levels import PROPORTIONS, RESPONSES, correlation, system_level
from parlai_q2.evaluate.measures import Scored, ScoreTable, passages, questions
from parlai_q2.evaluate.sets import (
    BINARY,
    RANDOM_DIALOGUE,
    SAME_DIALOGUE,
    AnnotatedResponse,
    by_system_and_class,
    contrasts,
)
from parlai_q2.evaluate.tables import Rows, find_blocks
from parlai_q2.intervals import mean_interval
from parlai_q2.tables import PAPER, Cell, Table

# The classes in column headings.
SHORT: dict[str, str] = {Label.CONSISTENT: 'cons.', Label.INCONSISTENT: 'incons.'}
OWN_KNOWLEDGE, Q2 = "the response's own", 'q2'


def systems_table(evaluation: Evaluation) -> Table | None:
    """The mean rho of each scorer that has scored all contexts of two systems."""
    rows = Rows(evaluation, 'table_4')
    crossed = contrasts(evaluation.annotated.crossed)
    responses = [*chain.from_iterable(crossed)]
    absent = []
    for measure in evaluation.measures if crossed else ():
        if len(measure.select_scored(responses)) < len(responses):
            absent.append(measure.name)
            continue
        spearman, means, undefined = system_level(
            measure.values([c.consistent for c in crossed]).tolist(),
            measure.values([c.inconsistent for c in crossed]).tolist(),
            rounds=evaluation.rounds,
            seed=evaluation.seed,
        )
        shares = (f'{share:.0%}' for share in PROPORTIONS)
        rows.ours(
            measure.name,
            contexts=len(crossed),
            spearman=spearman,
            undefined=undefined,
            **dict(zip(shares, means, strict=True)),
        )
    note = f'Left out, for lack of scores for all these contexts: {", ".join(absent)}.'
    return rows.table(
        responses=RESPONSES,
        rounds=evaluation.rounds,
        seed=evaluation.seed,
        absent=note if absent else '',
    )


def ratings_table(evaluation: Evaluation) -> Table | None:
    """Correlations of each scorer with each human rating."""
    rows = Rows(evaluation, 'table_5')
    responses = evaluation.annotated.responses
    for rating in sorted(set(chain.from_iterable(r.human for r in responses))):
        rated = [r for r in responses if rating in r.human]
        for measure in evaluation.measures:
            scored = measure.select_scored(rated)
            cells = correlation(
                measure.values(scored).tolist(),
                [r.human[rating] for r in scored],
                evaluation.rounds,
                evaluation.seed,
                passages(scored),
            )
            rows.ours(rating, measure.name, count=len(scored), **cells)
    return rows.table()


def coverage_table(evaluation: Evaluation) -> Table | None:
    """Questions, coverage and mean scores of Q2 in all its settings."""
    rows = Rows(evaluation, 'table_8')
    for measure in _settings(evaluation):
        for (system, label), responses in _classes_of_systems(evaluation).items():
            scored = measure.select_scored(responses)
            rows.ours(
                system,
                label,
                measure.name,
                **questions(measure, scored),
                q2=evaluation.mean(measure, scored),
                q2_f1=_mean_without_nli(measure, scored),
            )
    return rows.table()


def ablations_table(evaluation: Evaluation) -> Table | None:
    """Mean score, accuracy and ROC-AUC of Q2 in all its settings."""
    annotated = evaluation.annotated.of_classes()
    if len({r.label for r in annotated}) < 2:
        return None
    rows = Rows(evaluation, 'table_9')
    for measure in _settings(evaluation):
        level = evaluation.level(measure, annotated)
        cells: dict[str, Cell] = {n: level[n] for n in ('accuracy', 'roc_auc')}
        for (system, label), group in _classes_of_systems(evaluation).items():
            cells[f'{system} {SHORT[label]}'] = evaluation.mean(measure, group)
        rows.ours(measure.name, **cells)
    return rows.table()


def _classes_of_systems(
    evaluation: Evaluation,
) -> dict[tuple[str, str], list[AnnotatedResponse]]:
    """The responses by system and by one of the two classes."""
    groups = by_system_and_class(evaluation.annotated, evaluation.seed)
    return {group: members for group, members in groups.items() if group[1] in SHORT}


def _mean_without_nli(
    measure: ScoreTable, scored: Sequence[AnnotatedResponse]
) -> float | None:
    values = [measure.score(r).parts.get('q2_f1') for r in scored]
    if not values or None in values:
        return None
    return float(measure.values(scored, 'q2_f1').mean())


def _settings(evaluation: Evaluation) -> list[ScoreTable]:
    """Q2 and its variants; empty if there are no variants."""
    by_q2 = [m for m in evaluation.measures if m.name.partition('@')[0] == Q2]
    return [*by_q2, *evaluation.variants] if evaluation.variants else []


def random_knowledge_table(evaluation: Evaluation) -> Table | None:
    """Mean scores against each response's own knowledge and against other knowledge."""
    same, other = evaluation.same_dialogue, evaluation.random_dialogue
    if not (same or other):
        return None
    responses = evaluation.annotated.responses
    kinds: dict[str, Sequence[Scored]] = {OWN_KNOWLEDGE: responses}
    if same:
        kinds[SAME_DIALOGUE] = same
    kinds[RANDOM_DIALOGUE] = other
    # A column of a file has no scores against other knowledge.
    pairs = [*same, *other]
    measures = [m for m in evaluation.measures if any(map(m.__contains__, pairs))]
    rows = Rows(evaluation, 'table_10')
    for kind, members in kinds.items():
        cells: dict[str, Cell] = {'count': len(members)}
        for measure in measures:
            scored = [r for r in members if r in measure]
            cells[measure.name] = evaluation.mean(measure, scored)
            scorer, at, preset = measure.name.partition('@')
            if scorer == Q2:
                unanswered = questions(measure, scored)['no_answer']
                cells[f'no_answer{at}{preset}'] = unanswered
        rows.ours(kind, **cells)
    note = (
        f'Same dialogue: knowledge of another turn, for the {len(same)} of '
        f'{len(responses)} responses whose dialogue has one in the files.'
    )
    return rows.table(same=note if same else '', seed=evaluation.seed)


# Knowledge, decoding and size of GPT-2.
Generator = tuple[str, str, str]
KNOWLEDGE = ('gt', 'knn', 'dpr')
DECODINGS = ('beam', 'nucleus', 'delayed')
SIZES = ('small', 'medium', 'large', 'xlarge')
ALL = 'all'
Groups = dict[Generator, list[AnnotatedResponse]]


def by_generator(responses: Sequence[AnnotatedResponse]) -> Groups:
    """
    The responses by generator, in the paper's order; those of each knowledge together
    come last.
    """
    groups: Groups = {}
    for response in responses:
        if 'decoding' in response.extra:
            cell = response.corpus, response.extra['decoding'], response.system
            groups.setdefault(cell, []).append(response)
            if response.corpus in KNOWLEDGE:
                groups.setdefault((response.corpus, ALL, ALL), []).append(response)
    order = (*KNOWLEDGE, *DECODINGS, *SIZES, ALL)

    def place(cell: Generator) -> tuple[Any, ...]:
        numbers = [order.index(n) if n in order else -1 for n in cell]
        return (cell[1] == ALL, *numbers, cell)

    return dict(sorted(groups.items(), key=lambda item: place(item[0])))


def generators_table(evaluation: Evaluation) -> Table | None:
    """How factual each generator's responses are, and how many make something up."""
    rows, total = Rows(evaluation, 'generators'), 0
    papers: dict[tuple[Any, ...], Any] = {}
    for block in find_blocks(evaluation.annotated.paper, 'generators'):
        for row in block.rows:
            papers[tuple(row[key] for key in rows.keys)] = row['count']
    for cell, members in by_generator(evaluation.annotated.responses).items():
        answered = [r for r in members if r.extra.get('verifiable') is not None]
        verifiable = [r for r in answered if r.extra['verifiable']]
        if not answered:
            continue
        total += papers.get(cell, 0)
        rows.ours(
            *cell,
            count=len(verifiable),
            verifiable=len(verifiable) / len(answered),
            factual=_mean(evaluation, verifiable, 'factual'),
            hallucination=_mean(evaluation, verifiable, 'hallucination'),
        )
    note = (
        "A: mean appropriateness; not in the files. The paper's n is that of its Table "
        f'7, F, H and A those of Table 2; its n add up to {total:,} here.'
    )
    return rows.table(paper=note if total else '')


def _mean(
    evaluation: Evaluation, responses: Sequence[AnnotatedResponse], name: str
) -> Cell:
    rated = [r for r in responses if r.extra.get(name) is not None]
    if not rated:
        return None
    values = [float(r.extra[name]) for r in rated]
    return mean_interval(values, evaluation.rounds, evaluation.seed, passages(rated))


def cells_table(evaluation: Evaluation) -> Table | None:
    """F1 of both classes by generator and scorer, if there are several generators."""
    annotated = evaluation.annotated.of_classes()
    groups = by_generator(annotated)
    measures = [
        m
        for m in evaluation.measures
        if m.threshold is not None and m.select_scored(annotated)
    ]
    if len(groups) < 2 or not measures:
        return None
    rows, heads = Rows(evaluation, 'cells'), dict[str, str]()
    for cell, members in groups.items():
        counts = [sum(r.label == label for r in members) for label in BINARY]
        cells: dict[str, Cell] = {'count': '/'.join(map(str, counts))}
        for measure in measures:
            level = evaluation.level(measure, members)
            for label in BINARY:
                cells[f'{measure.name} {label}'] = level[f'{label}_f1']
                heads[f'{measure.name} {label}'] = f'{measure.name} {SHORT[label]}'
        rows.ours(*cell, **cells)
    return rows.table(heads)


def papers_cells_table(evaluation: Evaluation) -> Table | None:
    """
    The paper's detectors on the same generators, named by the numbers of its tables.
    """
    groups = by_generator(evaluation.annotated.of_classes())
    rows, heads = Rows(evaluation, 'cells_paper'), dict[str, str]()
    for block in find_blocks(evaluation.annotated.paper, 'cells_paper'):
        for row in block.rows:
            if tuple(row[key] for key in rows.keys) in groups:
                rows.append({**row, 'source': PAPER})
        for name in block.cells:
            table, label = name.split()
            heads[name] = f'{table} {SHORT[label]}'
    return rows.table(heads)
