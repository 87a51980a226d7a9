"""
Chooses among scored candidates, by one of three rules:

- ``score_plus_generator``: the best sum of the score and the weighted mean log
  probability of a token under the generator, the default; by the score alone where the
  generator does not say it of all candidates, or several searches found them, whose
  probabilities cannot be compared (a beam that begins with a name is none of these);
- ``score``: the most grounded candidate;
- ``threshold``: the first in the generator's order that passes the scorer's threshold.

By the score alone, candidates within a tolerance of the best are tied with it, and ties
follow the generator's order. When nothing can be verified, the generator's first choice
stands.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import Optional

from parlai_q2.enums import Word
from parlai_q2.errors import ConfigError
from parlai_q2.rerank.candidate import NAMED, Candidate, Ranking
from parlai_q2.turns import Passage
from parlai_q2.typed import is_number


class By(Word):
    """What a choice goes by; see the module."""

    SCORE = 'score'
    SCORE_PLUS_GENERATOR = 'score_plus_generator'
    THRESHOLD = 'threshold'


DEFAULT_BY = By.SCORE_PLUS_GENERATOR

# A mean log probability of a token is around -0.5 and a score is in [0, 1]: at this
# weight the generator decides between candidates whose scores differ by up to about
# 0.1. What is garbled is unlikely, which a scorer sees less well: chosen of 16 samples,
# .13 were wrong in place of .17, of 10 beams .18 in place of .195 (docs/training.md).
DEFAULT_GENERATOR_WEIGHT = 0.3

# Candidates this close to the best count as equally good.
DEFAULT_TOLERANCE = 0.02
# Digits that count when scores are compared: batching changes the last digits.
_DIGITS = 6


class Reason(Word):
    """
    Why a candidate was chosen, in a few words.

    >>> Reason.BEST == 'best score'
    True
    """

    BEST = 'best score'
    BEST_TOGETHER = 'best score and likelihood'
    NEARLY_BEST = "as good as the best, and the generator's favourite"
    FIRST_ABOVE = 'first above the threshold'
    NONE_ABOVE = "none above the threshold: the generator's first"
    UNVERIFIABLE = "nothing to verify: the generator's first"
    NO_KNOWLEDGE = "no knowledge: the generator's first"
    ABSTAINED = 'best score is below --abstain-below'
    ANSWERS = 'best score of those that answer the question'
    DOCUMENT = "the document's own words: no candidate surely answers the question"
    DECLINED = 'nothing that was found answers the question'
    COURTESY = 'small talk, which asks nothing of the documents'


@dataclass(frozen=True)
class Rule:
    """
    How to choose.

    :param by: one of :class:`By`.
    :param generator_weight: the weight of the mean log probability of a token.
    :param threshold: a value must be above this, in [0, 1], to pass.
    :param tolerance: how far below the best a value may be and still tie with it,
        where the generator's probability is not in the sum.
    :param abstain_below: abstain when the chosen score is below this; None: never.
    :raises UnknownNameError: if there is no such rule.
    :raises ConfigError: if a number is none, or out of range.

    >>> from parlai_q2 import Reranker
    >>> careful = Reranker('precision', Rule(abstain_below=0.5))
    >>> careful.rank('It opened in 1969.', ['I am sure of that.']).abstain
    True
    """

    by: str = DEFAULT_BY
    generator_weight: float = DEFAULT_GENERATOR_WEIGHT
    threshold: float = 0.5
    tolerance: float = DEFAULT_TOLERANCE
    abstain_below: Optional[float] = None

    def __post_init__(self) -> None:
        object.__setattr__(self, 'by', By.named('rule', self.by))
        weight = self.generator_weight
        if not is_number(weight):
            raise ConfigError(
                f'Rule.generator_weight must be a number, not {weight!r}.'
            )
        for name in ('threshold', 'tolerance', 'abstain_below'):
            value = getattr(self, name)
            if name == 'abstain_below' and value is None:
                continue
            if not is_number(value) or not 0 <= value <= 1:
                raise ConfigError(
                    f'Rule.{name} must be a number in [0, 1], not {value!r}.'
                )


def choose(
    candidates: Sequence[Candidate], rule: Rule, passages: tuple[Passage, ...]
) -> Ranking:
    """
    Put candidates in order.

    :param candidates: N scored candidates in the generator's order, at least one.
    :param passages: the knowledge they were scored against; empty if there is none.
    :return: the ranking.
    """
    if not passages:
        return Ranking(tuple(candidates), Reason.NO_KNOWLEDGE)
    if not any(candidate.verifiable for candidate in candidates):
        return Ranking(tuple(candidates), Reason.UNVERIFIABLE, passages=passages)
    rule = _known(rule, candidates)
    rank = _ranks(rule)

    def key(place: int) -> float:
        candidate = candidates[place]
        assert candidate.value is not None
        return round(rank(candidate, candidate.value), _DIGITS)

    order = sorted(range(len(candidates)), key=key)
    # A key is a rank, so smaller is better.
    tolerance = 0.0 if rule.by == By.SCORE_PLUS_GENERATOR else rule.tolerance
    nearly = round(key(order[0]) + tolerance, _DIGITS)
    tied = [place for place in order if key(place) <= nearly]
    as_good = key(min(tied)) != key(order[0])
    order.remove(first := min(tied))
    order.insert(0, first)
    ordered = tuple(candidates[place] for place in order)
    best = ordered[0]
    if _abstains(best, rule):
        return Ranking(ordered, Reason.ABSTAINED, abstain=True, passages=passages)
    reason = Reason.NEARLY_BEST if as_good else _reason(best, rule)
    return Ranking(ordered, reason, passages=passages)


def _known(rule: Rule, candidates: Sequence[Candidate]) -> Rule:
    """The rule, without the generator where it says nothing that can be compared."""
    if rule.by != By.SCORE_PLUS_GENERATOR:
        return rule
    one_search = 1 == len(
        {
            tuple(name for name in candidate.strategies if name != NAMED)
            for candidate in candidates
            if candidate.strategies != (NAMED,)
        }
    )
    said = all(candidate.mean_logprob for candidate in candidates)
    if one_search and said and rule.generator_weight:
        return rule
    return replace(rule, by=By.SCORE)


def _ranks(rule: Rule) -> Callable[[Candidate, float], float]:
    if rule.by == By.THRESHOLD:
        return lambda candidate, value: float(value <= rule.threshold)
    weight = rule.generator_weight
    if rule.by == By.SCORE_PLUS_GENERATOR:
        # A generator that gives no finite number thinks a candidate impossible.
        return lambda c, value: (
            -(value + weight * c.mean_logprob) if isfinite(c.mean_logprob) else inf
        )
    return lambda candidate, value: -value


def _abstains(best: Candidate, rule: Rule) -> bool:
    # What cannot be verified is not a hallucination, so it is no reason to abstain.
    return (
        rule.abstain_below is not None
        and best.score is not None
        and best.verifiable
        and best.score.value < rule.abstain_below
    )


def _reason(best: Candidate, rule: Rule) -> str:
    if rule.by == By.THRESHOLD:
        above = best.value is not None and best.value > rule.threshold
        return Reason.FIRST_ABOVE if above else Reason.NONE_ABOVE
    return Reason.BEST_TOGETHER if rule.by == By.SCORE_PLUS_GENERATOR else Reason.BEST
