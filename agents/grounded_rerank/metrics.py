"""The metrics of reranked turns."""

from typing import Optional

from parlai.core.metrics import AverageMetric

from parlai_q2.rerank import Candidate, Ranking
from parlai_q2.rerank.candidate import distinct_candidates
from parlai_q2.rerank.choice import MIN_RELEVANCE
from parlai_q2.rerank.guards import GUARD_NAMES


def metrics(rankings: list[Ranking]) -> dict[str, list[Optional[AverageMetric]]]:
    """
    The metrics of a batch: B values for each name, None where a turn has none.

    Scores are the scorer's, before the guards, of the candidate that now comes first,
    even where the agent abstained. ``rerank/relevance`` is its relevance to the turn,
    and ``rerank/answers`` the share of turns that it answers, where relevance was read.
    A turn without anything to verify counts in
    ``rerank/unverifiable`` and in no score. ``rerank/copy`` and so on, one for each
    guard, are the shares of turns whose first candidate has that guard,
    ``rerank/empty`` of those for which the generator found no text.
    """
    chosen = [_average(r, _value(r.chosen)) for r in rankings]
    first = [_average(r, _value(r.first)) for r in rankings]
    return {
        'rerank/chosen': chosen,
        'rerank/first': first,
        'rerank/gain': [_average(r, _gain(r)) for r in rankings],
        'rerank/oracle': [_average(r, _best(r)) for r in rankings],
        'rerank/distinct': [
            AverageMetric(len(distinct_candidates(r.candidates))) for r in rankings
        ],
        'rerank/empty': [AverageMetric(int(not _says(r))) for r in rankings],
        'rerank/abstained': [AverageMetric(int(r.abstain)) for r in rankings],
        'rerank/relevance': [_relevance(r) for r in rankings],
        'rerank/answers': [_answers(r) for r in rankings],
        'rerank/unverifiable': [AverageMetric(int(not r.verifiable)) for r in rankings],
        **{f'rerank/{g}': [_guarded(r, g) for r in rankings] for g in GUARD_NAMES},
    }


def _says(ranking: Ranking) -> bool:
    return bool(ranking.chosen.text.strip())


def _average(ranking: Ranking, value: Optional[float]) -> Optional[AverageMetric]:
    if not ranking.verifiable or value is None:
        return None
    return AverageMetric(value)


def _relevance(ranking: Ranking) -> AverageMetric | None:
    relevance = ranking.chosen.relevance
    return None if relevance is None else AverageMetric(relevance)


def _answers(ranking: Ranking) -> AverageMetric | None:
    relevance = ranking.chosen.relevance
    return None if relevance is None else AverageMetric(int(relevance >= MIN_RELEVANCE))


def _guarded(ranking: Ranking, guard: str) -> Optional[AverageMetric]:
    if ranking.chosen.score is None:
        return None
    return AverageMetric(int(guard in ranking.chosen.guards))


def _value(candidate: Candidate) -> Optional[float]:
    return None if candidate.score is None else candidate.score.value


def _gain(ranking: Ranking) -> Optional[float]:
    chosen, first = _value(ranking.chosen), _value(ranking.first)
    return None if chosen is None or first is None else chosen - first


def _best(ranking: Ranking) -> Optional[float]:
    scores = [one.score.value for one in ranking.candidates if one.score is not None]
    return max(scores, default=None)
