"""
Human judgements of generators by knowledge, decoding and size (Santhanam et al. 2021):
factual correctness and hallucination (Tables 2 and 7), and how well scorers detect the
consistent and inconsistent responses of each generator (Tables 4, 6 and 8 to 12).
"""

from collections.abc import Sequence
from typing import Any

from parlai_q2.evaluate.evaluation import Evaluation
from parlai_q2.evaluate.measures import passages
from parlai_q2.evaluate.papers import find_blocks
from parlai_q2.evaluate.sets import BINARY, AnnotatedResponse
from parlai_q2.evaluate.tables import Rows
from parlai_q2.evaluate.tables.systems import SHORT
from parlai_q2.intervals import mean_interval
from parlai_q2.tables import PAPER, Cell, Table

# Knowledge, decoding and size of GPT-2.
Generator = tuple[str, str, str]
KNOWLEDGE = ('gt', 'knn', 'dpr')
DECODINGS = ('beam', 'nucleus', 'delayed')
SIZES = ('small', 'medium', 'large', 'xlarge')
ALL = 'all'
Groups = dict[Generator, list[AnnotatedResponse]]


def by_generator(responses: Sequence[AnnotatedResponse]) -> Groups:
    """
    The responses that name their decoding, by generator, in the paper's order; those of
    each knowledge together come last.
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
    """The paper's detectors on the same generators, by the numbers of its tables."""
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
