"""
Chooses among scored candidates, by one of four rules:

- ``combined``, the default: the best combination of worth
  (:mod:`~parlai_q2.rerank.worth`) and, if one search returned all candidates with a
  likelihood, their likelihood under the generator;
- ``score_plus_generator``: the score and the weighted mean log probability of a token;
- ``score``: the highest score after the guards;
- ``threshold``: the first in the generator's order that passes the threshold.

Equal candidates keep the generator's order. If nothing can be verified, the generator's
first choice stands, unless the rule abstains.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf, isfinite

from parlai_q2.claims import Label
from parlai_q2.errors import ConfigError
from parlai_q2.json_values import is_number
from parlai_q2.options import Word
from parlai_q2.rerank.candidate import NAMED, Candidate, duplicate_key
from parlai_q2.rerank.ranking import Ranking
from parlai_q2.rerank.worth import claims_nothing, guarded_score_of, worth_of
from parlai_q2.scorers.base import DEFAULT_THRESHOLD
from parlai_q2.scorers.shell import LANGUAGE
from parlai_q2.text.questions import only_declines, only_greets, wants_answer
from parlai_q2.turns import Passage


class RerankBy(Word):
    """The rules of a choice; see the module."""

    COMBINED = 'combined'
    SCORE = 'score'
    SCORE_PLUS_GENERATOR = 'score_plus_generator'
    THRESHOLD = 'threshold'


DEFAULT_RERANK_BY = RerankBy.COMBINED

# A mean log probability of a token is around -0.5 and a score is in [0, 1]: at this
# weight the generator decides between candidates whose values differ by up to about
# 0.1. Garbled text has a low likelihood, but a scorer may overlook it.
DEFAULT_GENERATOR_WEIGHT = 0.3
# The least relevance of a reply that answers its turn, and of one that surely does.
MIN_RELEVANCE, SURE_RELEVANCE = 0.5, 0.9
# The numbers of most relevant and of best grounded candidates that are read as answers.
MOST_RELEVANT, BEST_GROUNDED = 4, 3
# More than any likelihood lifts a candidate.
BELOW_ALL = 1000.0
# The digits by which values are compared: batching changes the last ones.
_DIGITS = 6
_SHOWN_DIGITS = 2


class Reason(Word):
    """
    Why a candidate was chosen, in a few words.

    >>> Reason.BEST == 'best score'
    True
    """

    BEST = 'best score'
    BEST_AFTER_GUARDS = 'best score after the guards'
    BEST_WORTH = 'best worth: score, relevance, right answer and agreement'
    BEST_LIKELIHOOD = 'best combination of score and likelihood'
    BEST_WORTH_AND_LIKELIHOOD = 'best combination of worth and likelihood'
    BEST_DOUBTFUL = 'best worth, though it may not answer the turn'
    BEST_DECLINE = 'declines, since no candidate answers better'
    FIRST_ABOVE = 'first above the threshold'
    NONE_ABOVE = "none above the threshold: the generator's first"
    UNVERIFIABLE = "nothing to verify: the generator's first"
    NO_KNOWLEDGE = "no knowledge: the generator's first"
    ABSTAINED = 'abstained: the score of the best reply is below --abstain-below'
    ABSTAINED_RELEVANCE = 'abstained: the best reply does not answer the turn'
    ABSTAINED_UNVERIFIABLE = 'abstained: the best reply could not be verified'
    ABSTAINED_NO_KNOWLEDGE = 'abstained: there is no knowledge to verify replies with'
    ANSWERS = 'best score of those that answer the question'
    DOCUMENT = "the document's own words, which answer best"
    DECLINED = 'nothing in the documents answers the question'
    COURTESY = 'small talk, which asks nothing of the documents'


@dataclass(frozen=True)
class Rule:
    """
    How to choose.

    :param by: one of :class:`RerankBy`.
    :param generator_weight: the weight of the mean log probability of a token.
    :param threshold: a value must be above this, in [0, 1], to pass; None: the
        threshold of the scorer that chooses.
    :param abstain_below: abstain unless the chosen reply was verified, scores at least
        this, in [0, 1], and answers the turn if that asks something. Greetings pass,
        and replies that say they have no answer. None: never abstain.
    :param abstain_unverified: with ``abstain_below``, whether to abstain, too, if there
        is no knowledge or the reply could not be verified. If not, the best reply
        stands, which is the generator's first if none could be verified.
    :raises UnknownNameError: if there is no such rule.
    :raises ConfigError: if a value is not a number, or is out of range.

    >>> from parlai_q2 import Reranker
    >>> careful = Reranker('precision', Rule(abstain_below=0.5))
    >>> careful.rank('It opened in 1969.', ['I am sure of that.']).abstain
    True
    """

    by: str = DEFAULT_RERANK_BY
    generator_weight: float = DEFAULT_GENERATOR_WEIGHT
    threshold: float | None = None
    abstain_below: float | None = None
    abstain_unverified: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, 'by', RerankBy.named('rule', self.by))
        weight = self.generator_weight
        if not is_number(weight):
            raise ConfigError(
                f'Rule.generator_weight must be a number, not {weight!r}.'
            )
        for name in ('threshold', 'abstain_below'):
            value = getattr(self, name)
            if value is None:
                continue
            if not is_number(value) or not 0 <= value <= 1:
                raise ConfigError(
                    f'Rule.{name} must be a number in [0, 1], not {value!r}.'
                )


# The value of a candidate by a rule, or by the first part of it; larger is better.
Utility = Callable[[Candidate], float]


def choose(
    candidates: Sequence[Candidate],
    rule: Rule,
    passages: tuple[Passage, ...],
    turn_text: str = '',
) -> Ranking:
    """
    Put candidates in order.

    :param candidates: N scored candidates in the generator's order, at least one.
    :param passages: the knowledge they were scored against; empty if there is none.
    :param turn_text: the last turn; empty if there is none.
    :return: the ranking.
    """
    candidates = [_with_worth(c, rule, turn_text) for c in candidates]
    if not passages:
        ordered, reason = tuple(candidates), str(Reason.NO_KNOWLEDGE)
    elif not any(candidate.verifiable for candidate in candidates) and any(
        candidate.relevance is None or _is_foreign(candidate)
        for candidate in candidates
    ):
        ordered, reason = tuple(candidates), Reason.UNVERIFIABLE
    else:
        ordered, reason = _order(candidates, rule, turn_text)
    failure = _find_failure(ordered[0], rule, bool(passages), turn_text)
    if failure is not None:
        return Ranking(ordered, failure, True, passages, turn_text)
    return Ranking(ordered, reason, False, passages, turn_text)


def find_contenders(candidates: Sequence[Candidate], turn_text: str) -> list[int]:
    """
    Find the candidates to read as answers, by index: the :data:`MOST_RELEVANT` and the
    :data:`BEST_GROUNDED` texts with all their copies, without those that claim nothing.
    """
    claiming = [
        n for n, c in enumerate(candidates) if not claims_nothing(c.text, turn_text)
    ]
    by_relevance = sorted(claiming, key=lambda n: -(candidates[n].relevance or 0.0))
    by_score = sorted(claiming, key=lambda n: -guarded_score_of(candidates[n]))
    keys = {n: duplicate_key(candidates[n].text) for n in claiming}
    read = {
        *list(dict.fromkeys(keys[n] for n in by_relevance))[:MOST_RELEVANT],
        *list(dict.fromkeys(keys[n] for n in by_score))[:BEST_GROUNDED],
    }
    return [n for n in claiming if keys[n] in read]


def has_comparable_likelihoods(candidates: Sequence[Candidate]) -> bool:
    """
    Whether every candidate has a likelihood from one search; likelihoods of several
    searches cannot be compared. (A beam that begins with a name is part of the first
    search.)
    """
    searches = {
        tuple(name for name in candidate.strategies if name != NAMED)
        for candidate in candidates
        if candidate.strategies != (NAMED,)
    }
    return len(searches) == 1 and all(c.mean_logprob is not None for c in candidates)


def _order(
    candidates: Sequence[Candidate], rule: Rule, turn_text: str
) -> tuple[tuple[Candidate, ...], str]:
    """Order the candidates, best first; return them with the reason for the first."""
    stages = _stages(candidates, rule, turn_text)
    _, utility = stages[-1]
    order = _sort(list(map(utility, candidates)))
    best = order[0]
    if rule.by == RerankBy.THRESHOLD:
        passes = _passes(candidates[best], rule)
        reason = Reason.FIRST_ABOVE if passes else Reason.NONE_ABOVE
    elif candidates[best].worth is None:
        reason = _explain(candidates, stages, best)
    elif only_declines(candidates[best].text):
        reason = Reason.BEST_DECLINE
    elif _may_not_answer(candidates[best], turn_text):
        reason = Reason.BEST_DOUBTFUL
    else:
        reason = _explain(candidates, stages, best)
    return tuple(candidates[index] for index in order), reason


def _stages(
    candidates: Sequence[Candidate], rule: Rule, turn_text: str
) -> list[tuple[Reason, Utility]]:
    """The utilities that a rule is built from, the last one being the whole rule."""
    if rule.by == RerankBy.THRESHOLD:
        return [(Reason.FIRST_ABOVE, lambda c: float(_passes(c, rule)))]
    stages: list[tuple[Reason, Utility]] = [
        (Reason.BEST, lambda c: c.score.value if c.score else 0.0),
        (Reason.BEST_AFTER_GUARDS, guarded_score_of),
    ]
    base: Utility = guarded_score_of
    likelihood_reason = Reason.BEST_LIKELIHOOD
    if any(candidate.worth is not None for candidate in candidates):
        base = partial(_worth_to_rank_by, turn_text=turn_text)
        stages.append((Reason.BEST_WORTH, base))
        likelihood_reason = Reason.BEST_WORTH_AND_LIKELIHOOD
    weight = rule.generator_weight
    if rule.by != RerankBy.SCORE and weight and has_comparable_likelihoods(candidates):

        def with_likelihood(candidate: Candidate) -> float:
            logprob = candidate.mean_logprob
            if logprob is None or not isfinite(logprob):
                return -inf
            return base(candidate) + weight * logprob

        stages.append((likelihood_reason, with_likelihood))
    return stages


def _passes(candidate: Candidate, rule: Rule) -> bool:
    threshold = DEFAULT_THRESHOLD if rule.threshold is None else rule.threshold
    return guarded_score_of(candidate) > threshold


def _explain(
    candidates: Sequence[Candidate], stages: Sequence[tuple[Reason, Utility]], best: int
) -> Reason:
    """
    Explain a choice by the first stage from which on the candidate leads: alone, in the
    digits that people see, or else with others.
    """
    reason = stages[-1][0]
    alone: Reason | None = None
    for name, utility in reversed(stages):
        values = list(map(utility, candidates))
        if _sort(values)[0] != best:
            break
        reason = name
        shown = [round(value, _SHOWN_DIGITS) for value in values]
        if shown.count(shown[best]) == 1:
            alone = name
    return alone or reason


def _sort(values: Sequence[float]) -> list[int]:
    """Sort the indices of values, the largest first; equal ones keep their order."""
    return sorted(range(len(values)), key=lambda i: -round(values[i], _DIGITS))


def _is_foreign(candidate: Candidate) -> bool:
    """Whether the models cannot read its language, or that of the knowledge."""
    return candidate.score is not None and bool(candidate.score.parts.get(LANGUAGE))


def _with_worth(candidate: Candidate, rule: Rule, turn_text: str) -> Candidate:
    is_read = rule.by == RerankBy.COMBINED and candidate.relevance is not None
    worth = worth_of(candidate, turn_text) if is_read else None
    return replace(candidate, worth=worth)


def _worth_to_rank_by(candidate: Candidate, turn_text: str) -> float:
    """A candidate's worth; below that of others if it was not read as an answer."""
    worth = candidate.worth or 0.0
    return worth - BELOW_ALL if _is_unread(candidate, turn_text) else worth


def _is_unread(candidate: Candidate, turn_text: str) -> bool:
    """Whether it was not among the candidates that are read as answers."""
    return candidate.right_answer is None and not claims_nothing(
        candidate.text, turn_text
    )


def _find_failure(
    best: Candidate, rule: Rule, has_knowledge: bool, turn_text: str
) -> Reason | None:
    """The condition for a reply that the best candidate fails; None if it passes."""
    if rule.abstain_below is None or is_safe(best, turn_text):
        return None
    if not has_knowledge:
        return Reason.ABSTAINED_NO_KNOWLEDGE if rule.abstain_unverified else None
    if best.score is None or best.score.label == Label.NOT_VERIFIABLE:
        return Reason.ABSTAINED_UNVERIFIABLE if rule.abstain_unverified else None
    if best.score.value < rule.abstain_below:
        return Reason.ABSTAINED
    # A bare "Yes." claims something that the scorer, which reads no turn, cannot judge.
    if best.score.label == Label.GENERIC and wants_answer(turn_text):
        return Reason.ABSTAINED_UNVERIFIABLE if rule.abstain_unverified else None
    if _may_not_answer(best, turn_text):
        return Reason.ABSTAINED_RELEVANCE
    return None


def _may_not_answer(candidate: Candidate, turn_text: str) -> bool:
    """Whether a turn asks something that a reply more likely does not answer."""
    return (
        candidate.relevance is not None
        and candidate.relevance < MIN_RELEVANCE
        and wants_answer(turn_text)
    )


def is_safe(candidate: Candidate, turn_text: str) -> bool:
    """
    Whether a reply needs no grounding: a greeting after a turn that asks nothing, or a
    reply that only says that it has no answer.
    """
    if only_greets(candidate.text):
        return not wants_answer(turn_text)
    return only_declines(candidate.text)
