"""
Reports a ranking as JSON-safe rows and as metrics.
"""

import math
from typing import Any, Optional

from parlai.core.metrics import AverageMetric

from parlai_q2.agents.grounded_rerank.guards import COPY, GENERIC
from parlai_q2.agents.grounded_rerank.reranker import Judged, Ranking


def rows(ranking: Ranking) -> list[dict[str, Any]]:
    """
    A ranking as rows, one for each candidate, best first.

    :param ranking: one pool's ranking.
    :return: JSON-safe rows: ``text``, ``strategies`` (those that found it),
        ``generator_score`` and ``mean_logprob`` (None if not finite), ``score``,
        ``label``, ``fallback``, ``verdicts`` and ``parts`` (as in ``Score.to_dict``;
        score and label are None for a candidate that was not scored), ``guards`` and
        ``guarded_score``, ``prefilter_score``, ``chosen``, ``first`` (whether it was
        the generator's first) and ``reason`` (for the chosen one).
    """
    return [
        {
            'text': one.candidate.text,
            'strategies': list(one.candidate.strategies),
            'generator_score': _finite(one.candidate.generator_score),
            'mean_logprob': _finite(one.candidate.mean_logprob),
            **_score(one),
            'prefilter_score': one.prefilter.score.value if one.prefilter else None,
            'chosen': one is ranking.chosen,
            'first': one is ranking.first,
            'reason': ranking.reason if one is ranking.chosen else None,
        }
        for one in ranking.judged
    ]


def metrics(rankings: list[Ranking]) -> dict[str, list[Optional[AverageMetric]]]:
    """
    The metrics of a batch.

    :param rankings: B rankings.
    :return: B values for each name, None where a turn has none. Scores are the
        scorer's, before the guards. They belong to the candidate that now comes first,
        even where the agent abstained. A turn without anything to verify counts in
        ``rerank/unverifiable`` and in no score. ``rerank/generic`` and ``rerank/copy``
        are the shares of turns whose first candidate is generic or a copy.
    """
    chosen = [_average(r, r.chosen.score) for r in rankings]
    first = [_average(r, r.first.score) for r in rankings]
    return {
        'rerank/chosen': chosen,
        'rerank/first': first,
        'rerank/gain': [_average(r, _gain(r)) for r in rankings],
        'rerank/oracle': [_average(r, _best(r)) for r in rankings],
        'rerank/distinct': [AverageMetric(len(r.judged)) for r in rankings],
        'rerank/abstained': [AverageMetric(int(r.abstain)) for r in rankings],
        'rerank/unverifiable': [AverageMetric(int(not r.verifiable)) for r in rankings],
        'rerank/generic': [_guarded(r, GENERIC) for r in rankings],
        'rerank/copy': [_guarded(r, COPY) for r in rankings],
    }


def _score(judged: Judged) -> dict[str, Any]:
    if judged.finding is None:
        score: dict[str, Any] = {
            'score': None,
            'label': None,
            'fallback': False,
            'verdicts': [],
            'parts': {},
        }
        return {**score, 'guards': [], 'guarded_score': None}
    score = judged.finding.score.to_dict()
    # All rows share one signature, which is reported beside them.
    score.pop('signature')
    return {
        **score,
        'guards': list(judged.finding.guards),
        'guarded_score': judged.finding.value,
    }


def _average(ranking: Ranking, value: Optional[float]) -> Optional[AverageMetric]:
    if not ranking.verifiable or value is None:
        return None
    return AverageMetric(value)


def _guarded(ranking: Ranking, guard: str) -> Optional[AverageMetric]:
    finding = ranking.chosen.finding
    if finding is None:
        return None
    return AverageMetric(int(guard in finding.guards))


def _gain(ranking: Ranking) -> Optional[float]:
    if ranking.chosen.score is None or ranking.first.score is None:
        return None
    return ranking.chosen.score - ranking.first.score


def _best(ranking: Ranking) -> Optional[float]:
    return max((j.score for j in ranking.judged if j.score is not None), default=None)


def _finite(value: float) -> Optional[float]:
    return value if math.isfinite(value) else None
