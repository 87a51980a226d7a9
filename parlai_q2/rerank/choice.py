"""
Chooses among scored candidates, by one of four rules:

- ``combined``, the default: the best combination of groundedness (the score after the
  guards), relevance to the turn and, where it is known of all candidates and one search
  returned them, their likelihood under the generator;
- ``score_plus_generator``: the score and the weighted mean log probability of a token;
- ``score``: the highest score after the guards;
- ``threshold``: the first in the generator's order that passes the threshold.

Equal candidates keep the generator's order. If nothing can be verified, the generator's
first choice stands, unless the rule abstains.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite

from parlai_q2.claims import Label
from parlai_q2.enums import Word
from parlai_q2.errors import ConfigError
from parlai_q2.rerank.candidate import NAMED, Candidate
from parlai_q2.rerank.guards.generic import states_nothing
from parlai_q2.rerank.ranking import Ranking
from parlai_q2.text.greetings import only_greets
from parlai_q2.text.questions import only_declines, wants_answer
from parlai_q2.turns import Passage
from parlai_q2.typed import is_number


class RerankBy(Word):
    """The rules of a choice; see the module."""

    COMBINED = 'combined'
    SCORE = 'score'
    SCORE_PLUS_GENERATOR = 'score_plus_generator'
    THRESHOLD = 'threshold'


DEFAULT_RERANK_BY = RerankBy.COMBINED

# A mean log probability of a token is around -0.5 and a score is in [0, 1]: at this
# weight the generator decides between candidates whose values differ by up to about
# 0.1. Garbled text is unlikely, which a scorer sees less well.
DEFAULT_GENERATOR_WEIGHT = 0.3
# A reply answers its turn if that is likelier than not.
MIN_RELEVANCE = 0.5
# So many candidates are read for relevance before it is known which others can win.
READ_FIRST = 4
# Digits that count when values are compared: batching changes the last digits.
_DIGITS = 6


class Reason(Word):
    """
    Why a candidate was chosen, in a few words.

    >>> Reason.BEST == 'best score'
    True
    """

    BEST = 'best score'
    BEST_AFTER_GUARDS = 'best score after the guards'
    BEST_RELEVANCE = 'best score and relevance to the turn'
    BEST_LIKELIHOOD = 'best score and likelihood'
    BEST_COMBINED = 'best score, relevance and likelihood'
    FIRST_ABOVE = 'first above the threshold'
    NONE_ABOVE = "none above the threshold: the generator's first"
    UNVERIFIABLE = "nothing to verify: the generator's first"
    NO_KNOWLEDGE = "no knowledge: the generator's first"
    ABSTAINED = 'best score is below --abstain-below'
    ABSTAINED_RELEVANCE = 'abstained: no grounded reply answers the turn'
    ABSTAINED_UNVERIFIABLE = 'abstained: the best reply could not be verified'
    ABSTAINED_NO_KNOWLEDGE = 'abstained: there is no knowledge to verify replies with'
    ANSWERS = 'best score of those that answer the question'
    DOCUMENT = "the document's own words: no candidate surely answers the question"
    DECLINED = 'nothing in the documents answers the question'
    COURTESY = 'small talk, which asks nothing of the documents'


@dataclass(frozen=True)
class Rule:
    """
    How to choose.

    :param by: one of :class:`RerankBy`.
    :param generator_weight: the weight of the mean log probability of a token.
    :param threshold: a value must be above this, in [0, 1], to pass.
    :param abstain_below: abstain unless the chosen reply was verified, scores at least
        this, in [0, 1], and answers the turn if that asks something. Greetings pass,
        and replies that say they have no answer. None: never abstain.
    :param abstain_unverified: with ``abstain_below``, whether to abstain, too, if there
        is no knowledge or the reply could not be verified. If not, the generator's
        first reply stands.
    :raises UnknownNameError: if there is no such rule.
    :raises ConfigError: if a number is none, or out of range.

    >>> from parlai_q2 import Reranker
    >>> careful = Reranker('precision', Rule(abstain_below=0.5))
    >>> careful.rank('It opened in 1969.', ['I am sure of that.']).abstain
    True
    """

    by: str = DEFAULT_RERANK_BY
    generator_weight: float = DEFAULT_GENERATOR_WEIGHT
    threshold: float = 0.5
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
            if name == 'abstain_below' and value is None:
                continue
            if not is_number(value) or not 0 <= value <= 1:
                raise ConfigError(
                    f'Rule.{name} must be a number in [0, 1], not {value!r}.'
                )


# What a candidate is worth by a rule, or by the first part of it; larger is better.
Utility = Callable[[Candidate], float]


# A reply that claims nothing counts at least as this groundedness where it is read for
# relevance, which tells whether it declines or greets rightly.
MIN_SAFE_VALUE = 0.6


def combine(candidate: Candidate) -> float:
    """
    Groundedness and relevance of a candidate as one number in [0, 1]: the product of
    its value after the guards, its relevance and its support in the light of the turn;
    only the value if relevance was not read.

    >>> combine(Candidate('Five.', value=0.5, relevance=0.5, turn_support=1.0))
    0.25
    """
    value = _value(candidate)
    if candidate.relevance is None or candidate.turn_support is None:
        return value
    if claims_nothing(candidate.text):
        value = max(value, MIN_SAFE_VALUE)
    return value * candidate.relevance * candidate.turn_support


def may_answer(candidate: Candidate) -> bool:
    """Whether a candidate is consistent, or claims nothing."""
    score = candidate.score
    is_consistent = score is not None and score.label == Label.CONSISTENT
    return is_consistent or claims_nothing(candidate.text)


def claims_nothing(text: str) -> bool:
    """
    Whether a reply declines or greets, and claims nothing about the world.

    >>> claims_nothing('Hello! How can I help you?'), claims_nothing('It is far.')
    (True, False)
    """
    return bool(text.strip()) and (only_declines(text) or states_nothing(text))


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
    if not passages:
        ordered, reason = tuple(candidates), str(Reason.NO_KNOWLEDGE)
    elif not any(candidate.verifiable for candidate in candidates) and not any(
        candidate.relevance is not None for candidate in candidates
    ):
        ordered, reason = tuple(candidates), Reason.UNVERIFIABLE
    else:
        ordered, reason = _order(candidates, rule)
    failure = _find_failure(ordered[0], rule, bool(passages), turn_text)
    if failure is not None:
        return Ranking(ordered, failure, True, passages, turn_text)
    return Ranking(ordered, reason, False, passages, turn_text)


def find_best_grounded(candidates: Sequence[Candidate]) -> list[int]:
    """
    The indices of the :data:`READ_FIRST` best grounded candidates, whose relevance is
    read first.
    """
    indices = [n for n, c in enumerate(candidates) if may_answer(c)]
    return sorted(sorted(indices, key=lambda n: -_value(candidates[n]))[:READ_FIRST])


def find_contenders(candidates: Sequence[Candidate]) -> list[int]:
    """
    The indices of the candidates that were not read for relevance, and that could still
    beat those that were: even the most relevant reply is worth no more than its score
    allows (:func:`combine`).
    """
    combined = [combine(c) for c in candidates if c.relevance is not None]
    best = max(combined, default=0.0)
    return [
        index
        for index, candidate in enumerate(candidates)
        if candidate.relevance is None
        and may_answer(candidate)
        and combine(replace(candidate, relevance=1.0, turn_support=1.0)) > best
    ]


def has_comparable_likelihoods(candidates: Sequence[Candidate]) -> bool:
    """
    Whether the generator gave every candidate a likelihood, in one search; those of
    several searches cannot be compared. (A beam that begins with a name is part of the
    first search.)
    """
    searches = {
        tuple(name for name in candidate.strategies if name != NAMED)
        for candidate in candidates
        if candidate.strategies != (NAMED,)
    }
    return len(searches) == 1 and all(c.mean_logprob is not None for c in candidates)


def _order(
    candidates: Sequence[Candidate], rule: Rule
) -> tuple[tuple[Candidate, ...], str]:
    """The candidates, best first, and why the first one is."""
    stages = _stages(candidates, rule)
    _, utility = stages[-1]
    order = _sort(candidates, utility)
    best = order[0]
    if rule.by == RerankBy.THRESHOLD:
        passes = _value(candidates[best]) > rule.threshold
        reason = Reason.FIRST_ABOVE if passes else Reason.NONE_ABOVE
    else:
        reason = _explain(candidates, stages, best)
    return tuple(candidates[index] for index in order), reason


def _stages(
    candidates: Sequence[Candidate], rule: Rule
) -> list[tuple[Reason, Utility]]:
    """The utilities that a rule is built from, the last one being the whole rule."""
    if rule.by == RerankBy.THRESHOLD:
        return [(Reason.FIRST_ABOVE, lambda c: float(_value(c) > rule.threshold))]
    stages: list[tuple[Reason, Utility]] = [
        (Reason.BEST, lambda c: c.score.value if c.score else 0.0),
        (Reason.BEST_AFTER_GUARDS, _value),
    ]
    base: Utility = _value
    likelihood_reason = Reason.BEST_LIKELIHOOD
    if rule.by == RerankBy.COMBINED and any(
        candidate.relevance is not None for candidate in candidates
    ):
        base = _combined_value
        stages.append((Reason.BEST_RELEVANCE, base))
        likelihood_reason = Reason.BEST_COMBINED
    weight = rule.generator_weight
    if rule.by != RerankBy.SCORE and weight and has_comparable_likelihoods(candidates):

        def with_likelihood(candidate: Candidate) -> float:
            logprob = candidate.mean_logprob
            if logprob is None or not isfinite(logprob):
                return -inf
            return base(candidate) + weight * logprob

        stages.append((likelihood_reason, with_likelihood))
    return stages


def _explain(
    candidates: Sequence[Candidate], stages: Sequence[tuple[Reason, Utility]], best: int
) -> Reason:
    """The first stage from which on the chosen candidate leads."""
    reason = stages[-1][0]
    for name, utility in reversed(stages):
        if _sort(candidates, utility)[0] != best:
            break
        reason = name
    return reason


def _sort(candidates: Sequence[Candidate], utility: Utility) -> list[int]:
    return sorted(
        range(len(candidates)), key=lambda i: -round(utility(candidates[i]), _DIGITS)
    )


def _value(candidate: Candidate) -> float:
    return 0.0 if candidate.value is None else candidate.value


def _combined_value(candidate: Candidate) -> float:
    value = combine(candidate)
    # What was not read for relevance cannot win.
    return value if candidate.relevance is not None else value - 1.0


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
    if (
        best.relevance is not None
        and best.relevance < MIN_RELEVANCE
        and wants_answer(turn_text)
    ):
        return Reason.ABSTAINED_RELEVANCE
    return None


def is_safe(candidate: Candidate, turn_text: str) -> bool:
    """
    Whether a reply needs no grounding: a greeting after a turn that asks nothing, or a
    reply that says it has no answer and claims nothing else.
    """
    if only_greets(candidate.text):
        return not wants_answer(turn_text)
    return not candidate.verifiable and only_declines(candidate.text)
