"""
What people said of generators, by knowledge, decoding and size (Santhanam et al. 2021):
factual correctness and hallucination (Tables 2 and 7), and how well scorers find the
responses of each generator that are consistent and inconsistent (Tables 4, 6 and 8 to
12).
"""

from collections.abc import Sequence

from parlai_q2.claims import Label
from parlai_q2.evaluate.evaluation import Evaluation
from parlai_q2.evaluate.measures import passages
from parlai_q2.evaluate.papers import find_blocks, merge
from parlai_q2.evaluate.sets import BINARY, AnnotatedResponse
from parlai_q2.evaluate.tables import BRACKETS, PAPER, Cell, Column, Rows, Table
from parlai_q2.intervals import mean_interval

# Knowledge, decoding and size of GPT-2.
Generator = tuple[str, str, str]
KNOWLEDGE = ('gt', 'knn', 'dpr')
DECODINGS = ('beam', 'nucleus', 'delayed')
SIZES = ('small', 'medium', 'large', 'xlarge')
ALL = 'all'
KEYS = ('knowledge', 'decoding', 'size')
SHORT: dict[str, str] = {Label.CONSISTENT: 'cons.', Label.INCONSISTENT: 'incons.'}
Groups = dict[Generator, list[AnnotatedResponse]]


def by_generator(responses: Sequence[AnnotatedResponse]) -> Groups:
    """
    The responses that name their decoding, by generator, in the paper's order; those of
    each knowledge together come last.
    """
    groups: Groups = {}
    for response in responses:
        if 'decoding' in response.more:
            cell = response.corpus, response.more['decoding'], response.system
            groups.setdefault(cell, []).append(response)
            if response.corpus in KNOWLEDGE:
                groups.setdefault((response.corpus, ALL, ALL), []).append(response)
    order = (*KNOWLEDGE, *DECODINGS, *SIZES, ALL)

    def place(cell: Generator) -> tuple:
        numbers = [order.index(n) if n in order else -1 for n in cell]
        return (cell[1] == ALL, *numbers, cell)

    return dict(sorted(groups.items(), key=lambda item: place(item[0])))


def generators_table(evaluation: Evaluation) -> Table | None:
    """How factual each generator's responses are, and how many make something up."""
    rows = Rows(*KEYS)
    for cell, members in by_generator(evaluation.annotated.responses).items():
        answered = [
            response
            for response in members
            if response.more.get('verifiable') is not None
        ]
        verifiable = [response for response in answered if response.more['verifiable']]
        if not answered:
            continue
        rows.ours(
            *cell,
            count=len(verifiable),
            verifiable=len(verifiable) / len(answered),
            factual=_mean(evaluation, verifiable, 'factual'),
            hallucination=_mean(evaluation, verifiable, 'hallucination'),
        )
    columns = [
        Column('count', 'n'),
        Column('verifiable', 'verifiable %', 1, 100),
        Column('factual', 'F'),
        Column('hallucination', 'H %', 1, 100),
        Column('appropriate', 'A', 1),
    ]
    notes = [
        'n: verifiable responses. F: their mean factual correctness. H: the share of '
        'them that most annotators say makes something up.'
    ]
    blocks = find_blocks(evaluation.annotated.paper, 'generators')
    merged, _ = merge(rows, blocks, KEYS)
    if total := sum(row['count'] for row in merged if 'source' not in row):
        notes.append(
            f"A: mean appropriateness; not in the files. The paper's n is that of its "
            f'Table 7, F, H and A those of Table 2; its n add up to {total:,} here.'
        )
    what = 'Factual correctness by generator'
    return rows.table(evaluation, 'generators', what, columns, notes=[*notes, BRACKETS])


def _mean(
    evaluation: Evaluation, responses: Sequence[AnnotatedResponse], name: str
) -> Cell:
    rated = [r for r in responses if r.more.get(name) is not None]
    if not rated:
        return None
    values = [float(r.more[name]) for r in rated]
    return mean_interval(values, evaluation.rounds, evaluation.seed, passages(rated))


def cells_table(evaluation: Evaluation) -> Table | None:
    """F1 of both classes by generator and scorer, if there are several generators."""
    groups = by_generator(evaluation.annotated.of_classes())
    if len(groups) < 2:
        return None
    measures = [
        m
        for m in evaluation.measures
        if m.threshold is not None
        and m.select_scored(evaluation.annotated.of_classes())
    ]
    rows = Rows(*KEYS)
    for cell, members in groups.items() if measures else ():
        counts = [sum(r.label == label for r in members) for label in BINARY]
        cells: dict[str, Cell] = {'count': '/'.join(map(str, counts))}
        for measure in measures:
            level = evaluation.level(measure, members)
            for label in BINARY:
                cells[f'{measure.name} {label}'] = level[f'{label}_f1']
        rows.ours(*cell, **cells)
    columns = [Column('count', 'n')]
    columns += [
        Column(f'{m.name} {label}', f'{m.name} {SHORT[label]}', 2, bounds=False)
        for m in measures
        for label in BINARY
    ]
    return rows.table(
        evaluation,
        'cells',
        'F1 of both classes by generator',
        columns,
        notes=[
            'n: consistent and inconsistent responses, which are few in most cells: '
            'the intervals are in the JSON file, and drawn in the figure.'
        ],
    )


def papers_cells_table(evaluation: Evaluation) -> Table | None:
    """The paper's detectors on the same generators, by the numbers of its tables."""
    groups = by_generator(evaluation.annotated.of_classes())
    rows = Rows(*KEYS)
    columns: dict[str, Column] = {}
    for block in find_blocks(evaluation.annotated.paper, 'cells_paper'):
        for row in block.rows:
            if tuple(row[key] for key in KEYS) in groups:
                rows.append({**row, 'source': PAPER})
                for name in row.keys() - {*KEYS}:
                    table, label = name.split()
                    columns[name] = Column(name, f'{table} {SHORT[label]}', 2)
    order = sorted(columns, key=_table_and_label)
    return rows.table(
        evaluation,
        'cells_paper',
        'F1 of both classes by generator, the detectors of the paper',
        [columns[name] for name in order],
        notes=[
            "Columns: the paper's tables, 4, 6 and 8 to 12, of one detector each. 4 "
            'and 6 are of the same one, and differ for xlarge: with knn, the numbers '
            'of nucleus and delayed are exchanged; with dpr and delayed, 4 has .25 '
            'where 6 has .52.'
        ],
    )


def _table_and_label(name: str) -> tuple[int, int]:
    """Sorts ``6 inconsistent`` by the paper's table, then the label."""
    table, label = name.split()
    return int(table), BINARY.index(label)
