"""The metrics of reranked turns."""

from parlai.core.metrics import AverageMetric

from parlai_q2.agents.grounded_rerank.answering import COURTESY, DOCUMENT
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
      holds for the chosen candidate
    - ``rerank/distinct``, ``rerank/empty``: the number of different candidates; whether
      the generator wrote no text
    - ``rerank/abstained``, ``rerank/unverifiable``: whether the agent abstained;
      whether there was nothing to verify, so that the turn counts in no score

    The agent adds ``rerank/early`` (whether the first search was enough, with
    ``--candidates-until``) and ``rerank/scorer_ms`` (milliseconds spent on scoring and
    choosing).

    :return: B values for each name, None for turns without a value.
    """
    metrics: dict[str, list[AverageMetric | None]] = {}
    for ranking in rankings:
        for name, value in _measure(ranking).items():
            metric = None if value is None else AverageMetric(value)
            metrics.setdefault(f'rerank/{name}', []).append(metric)
    return metrics


def _measure(ranking: Ranking) -> dict[str, float | None]:
    # A ready reply comes first only if the generator wrote nothing.
    is_ready = ranking.first.strategies in ((DOCUMENT,), (COURTESY,))
    chosen = _value(ranking.chosen)
    first = None if is_ready else _value(ranking.first)
    scores = [c.score.value for c in ranking.candidates if c.score is not None]
    values: dict[str, float | None] = {
        'chosen': chosen,
        'first': first,
        'gain': None if chosen is None or first is None else chosen - first,
        'oracle': max(scores, default=None),
    }
    if not ranking.verifiable:
        values = dict.fromkeys(values)
    relevance, guards = ranking.chosen.relevance, ranking.chosen.guards
    is_scored = ranking.chosen.score is not None
    return {
        **values,
        'distinct': len(distinct_candidates(ranking.candidates)),
        'empty': int(is_ready or not ranking.first.text.strip()),
        'abstained': int(ranking.abstain),
        'relevance': relevance,
        'answers': None if relevance is None else int(relevance >= MIN_RELEVANCE),
        'unverifiable': int(not ranking.verifiable),
        **{name: int(name in guards) if is_scored else None for name in GUARD_NAMES},
    }


def _value(candidate: Candidate) -> float | None:
    return None if candidate.score is None else candidate.score.value
