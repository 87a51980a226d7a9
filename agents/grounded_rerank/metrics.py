"""The metrics of reranked turns."""

from parlai.core.metrics import AverageMetric

from parlai_q2.rerank import Candidate, Ranking
from parlai_q2.rerank.candidate import distinct_candidates
from parlai_q2.rerank.choice import MIN_RELEVANCE
from parlai_q2.rerank.guards import GUARD_NAMES


def compute_metrics(rankings: list[Ranking]) -> dict[str, list[AverageMetric | None]]:
    """
    Compute the metrics of a batch. A report has the mean of each over turns:

    - ``rerank/chosen``, ``rerank/first``: the score of the chosen candidate, even if
      the agent abstained, and of the generator's first, both before guards
    - ``rerank/gain``, ``rerank/oracle``: their difference; the best score
    - ``rerank/relevance``, ``rerank/answers``: the relevance of the chosen candidate;
      whether it is at least 0.5
    - ``rerank/copy``, ``rerank/repeat`` and so on: whether the guard of that name
      changed the score of the chosen candidate
    - ``rerank/distinct``, ``rerank/empty``: the number of different candidates; whether
      the generator wrote no text
    - ``rerank/abstained``, ``rerank/unverifiable``: whether the agent abstained;
      whether there was nothing to verify, so that the turn counts in no score

    The agent adds ``rerank/early`` (whether the first search was enough, with
    ``--candidates-until``) and ``rerank/scorer_ms`` (milliseconds spent on scoring and
    choosing).

    :return: B values for each name, None for turns without a value.
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
        'rerank/empty': [
            AverageMetric(int(not r.chosen.text.strip())) for r in rankings
        ],
        'rerank/abstained': [AverageMetric(int(r.abstain)) for r in rankings],
        'rerank/relevance': [_relevance(r) for r in rankings],
        'rerank/answers': [_answers(r) for r in rankings],
        'rerank/unverifiable': [AverageMetric(int(not r.verifiable)) for r in rankings],
        **{f'rerank/{guard}': _guard_metrics(rankings, guard) for guard in GUARD_NAMES},
    }


def _average(ranking: Ranking, value: float | None) -> AverageMetric | None:
    if not ranking.verifiable or value is None:
        return None
    return AverageMetric(value)


def _relevance(ranking: Ranking) -> AverageMetric | None:
    relevance = ranking.chosen.relevance
    return None if relevance is None else AverageMetric(relevance)


def _answers(ranking: Ranking) -> AverageMetric | None:
    relevance = ranking.chosen.relevance
    return None if relevance is None else AverageMetric(int(relevance >= MIN_RELEVANCE))


def _guard_metrics(rankings: list[Ranking], guard: str) -> list[AverageMetric | None]:
    return [
        None
        if ranking.chosen.score is None
        else AverageMetric(int(guard in ranking.chosen.guards))
        for ranking in rankings
    ]


def _value(candidate: Candidate) -> float | None:
    return None if candidate.score is None else candidate.score.value


def _gain(ranking: Ranking) -> float | None:
    chosen, first = _value(ranking.chosen), _value(ranking.first)
    return None if chosen is None or first is None else chosen - first


def _best(ranking: Ranking) -> float | None:
    scores = [candidate.score for candidate in ranking.candidates]
    return max((score.value for score in scores if score is not None), default=None)
