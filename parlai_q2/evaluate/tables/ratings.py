"""
Correlation with people's ratings (Honovich et al. 2021, Table 5).
"""

from typing import Optional

from parlai_q2.evaluate.correlation import correlation
from parlai_q2.evaluate.evaluation import Evaluation
from parlai_q2.evaluate.measure import passages
from parlai_q2.evaluate.published import TABLE_5, TABLE_5_RATING
from parlai_q2.evaluate.table import BRACKETS, OURS, PAPER, Cell, Column, Table, key


def ratings_table(evaluation: Evaluation) -> Optional[Table]:
    """
    One row for each rating and scorer.

    :return: None for a set without ratings.
    """
    names = sorted({name for r in evaluation.judged.responses for name in r.human})
    rows: list[dict[str, Cell]] = []
    for rating in names:
        rated = [r for r in evaluation.judged.responses if rating in r.human]
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
                    'pearson': found.pearson,
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
        f'{evaluation.judged.name}_table_5',
        f"Correlation with people's ratings, {evaluation.judged.title}{cited}",
        (
            key('rating'),
            key('scorer'),
            Column('count', 'n'),
            Column('spearman', 'Spearman'),
            Column('pearson', 'Pearson'),
        ),
        tuple(rows),
        (BRACKETS,),
    )


def _same(one: str, other: str) -> bool:
    return one.replace('_', ' ').lower() == other.lower()
