"""
Scores pools of candidates against their knowledge and puts each pool in order.

The scorer sees all pools of a batch in one call. With a prefilter, a cheap scorer sees
all of them first, also in one call, and the scorer sees only those that it keeps.
"""

from dataclasses import dataclass
from typing import NamedTuple, Optional, Sequence

from parlai_q2.agents.grounded_rerank.candidates import Candidate
from parlai_q2.agents.grounded_rerank.choice import Choice, Option, Reason, Rule, choose
from parlai_q2.agents.grounded_rerank.guards import COPY, GENERIC, counted, guards_of
from parlai_q2.records import Example, Score
from parlai_q2.scorers.base import Scorer

# A penalty of half the scale halves a perfect score.
DEFAULT_COPY_PENALTY = 0.5
DEFAULT_GENERIC_PENALTY = 0.5
DEFAULT_PREFILTER_KEEP = 4


class Turn(NamedTuple):
    """
    What a reply is judged by.

    :param knowledge: the knowledge; None or blank where there is none.
    :param history: the turns before the reply, oldest first.
    """

    knowledge: Optional[str]
    history: tuple[str, ...] = ()


@dataclass(frozen=True)
class Finding:
    """
    What a scorer found in a candidate.

    :param score: the scorer's score.
    :param value: the score after the guards, in [0, 1].
    :param guards: in which ways the candidate is degenerate: ``copy``, ``generic``.
    """

    score: Score
    value: float
    guards: tuple[str, ...] = ()


@dataclass(frozen=True)
class Judged:
    """
    A candidate and what was found in it.

    :param candidate: the candidate.
    :param place: its place in the generator's order, from 0.
    :param finding: the scorer's finding; None when the candidate was pruned or there is
        no knowledge.
    :param prefilter: the prefilter's finding, if there is a prefilter.
    """

    candidate: Candidate
    place: int
    finding: Optional[Finding] = None
    prefilter: Optional[Finding] = None

    @property
    def score(self) -> Optional[float]:
        """
        The scorer's number, before the guards.
        """
        return self.finding.score.value if self.finding else None

    @property
    def verifiable(self) -> bool:
        """
        Whether it was scored and contained anything to verify.
        """
        return self.finding is not None and self.finding.score.verifiable


@dataclass(frozen=True)
class Ranking:
    """
    One pool in its new order.

    :param judged: N candidates, best first; the first is the chosen one.
    :param reason: why it was chosen.
    :param abstain: whether to say the abstaining text instead.
    :param knowledge: the knowledge it was judged by; empty where there is none.
    """

    judged: tuple[Judged, ...]
    reason: str
    abstain: bool = False
    knowledge: str = ''

    @property
    def chosen(self) -> Judged:
        """
        The candidate that comes first in the new order.
        """
        return self.judged[0]

    @property
    def first(self) -> Judged:
        """
        The candidate that came first in the generator's order.
        """
        return min(self.judged, key=lambda j: j.place)

    @property
    def verifiable(self) -> bool:
        """
        Whether any candidate contained anything to verify.
        """
        return any(one.verifiable for one in self.judged)


class Reranker:
    """
    Puts pools of candidates in order.

    :param scorer: the scorer that decides.
    :param rule: how to choose; None for the best score.
    :param prefilter: a cheap scorer that prunes first, or None.
    :param prefilter_keep: how many candidates of a pool it keeps. The generator's first
        is always kept as well, so that the gain over it can be measured.
    :param copy_penalty: subtracted from the score of a verbatim copy, at least 0.
    :param generic_penalty: subtracted from the score of a generic reply, at least 0.
    """

    def __init__(
        self,
        scorer: Scorer,
        rule: Optional[Rule] = None,
        prefilter: Optional[Scorer] = None,
        prefilter_keep: int = DEFAULT_PREFILTER_KEEP,
        copy_penalty: float = DEFAULT_COPY_PENALTY,
        generic_penalty: float = DEFAULT_GENERIC_PENALTY,
    ):
        self.scorer, self.rule = scorer, rule or Rule()
        self.prefilter, self.prefilter_keep = prefilter, prefilter_keep
        self.penalties = {COPY: copy_penalty, GENERIC: generic_penalty}

    def rank(
        self, turns: Sequence[Turn], pools: Sequence[Sequence[Candidate]]
    ) -> list[Ranking]:
        """
        Put every pool in order.

        :param turns: B turns.
        :param pools: B pools, each of at least one candidate, in the generator's order.
        :return: B rankings.
        """
        everything = [list(range(len(pool))) for pool in pools]
        if self.prefilter is None:
            cheap: list[list[Optional[Finding]]] = [[None] * len(p) for p in pools]
            kept = everything
        else:
            cheap = self._find(self.prefilter, turns, pools, everything)
            kept = [self._kept(findings) for findings in cheap]
        found = self._find(self.scorer, turns, pools, kept, cheap)
        rankings = []
        for b, (turn, pool) in enumerate(zip(turns, pools, strict=True)):
            judged = [
                Judged(candidate, n, found[b][n], cheap[b][n])
                for n, candidate in enumerate(pool)
            ]
            rankings.append(self._order(turn, judged))
        return rankings

    def _find(
        self,
        scorer: Scorer,
        turns: Sequence[Turn],
        pools: Sequence[Sequence[Candidate]],
        kept: Sequence[Sequence[int]],
        cheap: Optional[Sequence[Sequence[Optional[Finding]]]] = None,
    ) -> list[list[Optional[Finding]]]:
        """
        Call a scorer once on the kept candidates of all pools, and apply the guards.
        """
        examples, owners = [], []
        for b, (turn, pool) in enumerate(zip(turns, pools, strict=True)):
            knowledge = (turn.knowledge or '').strip()
            for n in kept[b] if knowledge else ():
                owners.append((b, n))
                examples.append(Example(knowledge, pool[n].text, turn.history))
        found: list[list[Optional[Finding]]] = [[None] * len(pool) for pool in pools]
        scores = scorer.score(examples) if examples else []
        for (b, n), example, score in zip(owners, examples, scores, strict=True):
            before = cheap[b][n] if cheap else None
            # A prefilter that recognises generic replies is believed as well.
            parts = {**(before.score.parts if before else {}), **score.parts}
            text, knowledge = example.response, example.knowledge
            guards = guards_of(text, knowledge, parts, score.label)
            value = counted(score, guards, self.penalties, scorer.threshold)
            found[b][n] = Finding(score, value, guards)
        return found

    def _kept(self, findings: Sequence[Optional[Finding]]) -> list[int]:
        values = [finding.value if finding else 0.0 for finding in findings]
        best = sorted(range(len(values)), key=lambda n: -values[n])
        return sorted({0, *best[: self.prefilter_keep]})

    def _order(self, turn: Turn, judged: Sequence[Judged]) -> Ranking:
        knowledge = (turn.knowledge or '').strip()
        if knowledge:
            choice = choose([_option(one) for one in judged], self.rule)
        else:
            choice = Choice(tuple(range(len(judged))), Reason.NO_KNOWLEDGE)
        ordered = tuple(judged[n] for n in choice.order)
        return Ranking(ordered, choice.reason, choice.abstain, knowledge)


def _option(judged: Judged) -> Option:
    return Option(
        value=judged.finding.value if judged.finding else None,
        score=judged.score,
        verifiable=judged.verifiable,
        mean_logprob=judged.candidate.mean_logprob,
        pruned_by=judged.prefilter.value if judged.prefilter else 0.0,
    )
