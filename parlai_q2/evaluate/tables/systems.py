"""
Bootstrapped Spearman correlation at system level (Honovich et al. 2021, Table 4).
"""

from typing import Optional

from parlai_q2.bootstrap import Interval
from parlai_q2.evaluate.evaluation import Evaluation
from parlai_q2.evaluate.judged import contrasts
from parlai_q2.evaluate.measure import Measure
from parlai_q2.evaluate.published import TABLE_4
from parlai_q2.evaluate.system_level import (
    PROPORTIONS,
    RESPONSES,
    SystemLevel,
    system_level,
)
from parlai_q2.evaluate.table import OURS, PAPER, Cell, Column, Table, key


def system_levels(evaluation: Evaluation) -> list[tuple[Measure, SystemLevel]]:
    """
    The system level of each measure that has scored all of the contexts. Over fewer
    contexts, different systems would be simulated and the figures could not be
    compared.

    :return: empty for a set without contexts that were annotated for two systems.
    """
    found = []
    crossed = contrasts(evaluation.judged.crossed)
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
    """
    One row for each scorer, with its mean rho.

    :return: None for a set without contexts that were annotated for two systems.
    """
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
        if measure.name in TABLE_4 and evaluation.judged.name == 'q2_wow':
            mean, low, high = TABLE_4[measure.name]
            paper: Cell = mean
            if low is not None and high is not None:
                paper = Interval(mean, low, high)
            rows.append({'scorer': measure.name, 'source': PAPER, 'spearman': paper})
    there = {measure.name for measure, _ in levels}
    absent = [m.name for m in evaluation.measures if m.name not in there]
    notes = []
    if absent:
        notes.append(
            f'Left out, for lack of scores for all these contexts: {", ".join(absent)}.'
        )
    return Table(
        f'{evaluation.judged.name}_table_4',
        evaluation.title('System level: Spearman correlation', 'Table 4'),
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
