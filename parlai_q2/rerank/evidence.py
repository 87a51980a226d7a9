"""
Explains the candidates that are shown: the chosen one and, where they differ, the
generator's first.

Choosing needs a score for every candidate, but people see only these. A scorer that
gives verdicts, such as Q2 or ``spans``, is therefore asked only about them.
"""

from collections.abc import Sequence
from typing import Any

from parlai_q2.records import Example
from parlai_q2.scorers.base import Scorer

Rows = Sequence[dict[str, Any]]


def explain(scorer: Scorer, turns: Sequence[tuple[str, Rows]]) -> None:
    """
    Add verdicts to the rows that are shown, with one call of the scorer.

    :param scorer: the scorer whose verdicts are the evidence.
    :param turns: B turns, each its knowledge and its candidates as
        :meth:`~parlai_q2.rerank.Ranking.rows` reports them. Their ``verdicts`` are
        filled in place, and ``evidence`` names the scorer by its signature. Rows that
        have verdicts or no score are left alone.

    >>> from parlai_q2 import Reranker, load_scorer
    >>> rows = Reranker('precision').rank('In 1969.', ['In 1969.']).rows()
    >>> explain(load_scorer('precision'), [('In 1969.', rows)])
    >>> rows[0]['evidence'].split('|')[0]
    'overlap'
    """
    shown = [
        (knowledge, row)
        for knowledge, rows in turns
        for row in rows
        if (row['chosen'] or row['first'])
        and row['score'] is not None
        and not row['verdicts']
        and 'evidence' not in row
    ]
    if not shown:
        return
    scores = scorer.score([Example(known, row['text']) for known, row in shown])
    signature = str(scorer.signature)
    for (_, row), score in zip(shown, scores, strict=True):
        row['verdicts'] = [verdict.to_dict() for verdict in score.verdicts]
        row['evidence'] = signature
