"""
Scores candidates against their knowledge and puts them in order.

The scorer sees all candidates of a batch in one call. With a prefilter, a cheap scorer
sees all of them first, also in one call, and the scorer sees only those that it keeps.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Optional, Union

from parlai_q2.errors import InputError
from parlai_q2.io.knowledge import stripped
from parlai_q2.rerank.candidate import Candidate, Ranking
from parlai_q2.rerank.choice import Rule, choose
from parlai_q2.rerank.guards import COPY, GENERIC, REPEAT, guarded_value, guards_of
from parlai_q2.rerank.pools import Pool
from parlai_q2.scorers.base import Scorer
from parlai_q2.scorers.registry import load_scorer
from parlai_q2.turns import Example, Knowledge

# Chosen on development data; docs/which_scorer.md has the table.
DEFAULT_SCORER = 'grounded_fast'
DEFAULT_EVIDENCE = 'spans'
# A copy gives way to a reply in other words that is nearly as grounded, an empty phrase
# or a repetition to anything consistent.
DEFAULT_COPY_PENALTY = 0.1
DEFAULT_GENERIC_PENALTY = 0.5
DEFAULT_REPEAT_PENALTY = 0.5
DEFAULT_PREFILTER_KEEP = 4

Rows = Sequence[dict[str, Any]]


class Reranker:
    """
    Puts candidate replies in order by how well each is grounded in the knowledge.

    :param scorer: the scorer that decides, or its name.
    :param rule: how to choose; None for the best score.
    :param prefilter: a cheap scorer that prunes first, or its name.
    :param prefilter_keep: how many candidates of a pool it keeps, besides the
        generator's first, so that the gain over that can be measured.
    :param copy_penalty: subtracted from the score of a verbatim copy, at least 0.
    :param generic_penalty: subtracted from the score of a generic reply, at least 0.
    :param repeat_penalty: subtracted from the score of a reply that repeats a turn of
        the history, at least 0.
    :param evidence: the scorer that :meth:`explain` asks, or its name.

    >>> from parlai_q2 import Reranker
    >>> replies = ['It opened in 1950.', 'It opened in 1969.']
    >>> ranking = Reranker('precision').rank('It opened in 1969.', replies)
    >>> ranking.chosen.text, ranking.chosen.score.value, ranking.reason
    ('It opened in 1969.', 1.0, 'best score')
    """

    def __init__(
        self,
        scorer: Union[str, Scorer] = DEFAULT_SCORER,
        rule: Optional[Rule] = None,
        prefilter: Union[str, Scorer, None] = None,
        prefilter_keep: int = DEFAULT_PREFILTER_KEEP,
        copy_penalty: float = DEFAULT_COPY_PENALTY,
        generic_penalty: float = DEFAULT_GENERIC_PENALTY,
        repeat_penalty: float = DEFAULT_REPEAT_PENALTY,
        evidence: Union[str, Scorer, None] = None,
    ):
        self.scorer = load_scorer(scorer) if isinstance(scorer, str) else scorer
        self.rule = rule or Rule(threshold=self.scorer.threshold)
        self.prefilter = _loaded(prefilter)
        self.prefilter_keep = prefilter_keep
        self.evidence = _loaded(evidence)
        self.penalties = {
            COPY: copy_penalty,
            GENERIC: generic_penalty,
            REPEAT: repeat_penalty,
        }

    def rank(
        self,
        knowledge: Optional[Knowledge],
        candidates: Sequence[Union[str, Candidate]],
        history: Sequence[str] = (),
    ) -> Ranking:
        """
        Put the candidates of one turn in order.

        :param knowledge: what the reply should be grounded in: a text or a list of
            passages (:func:`~parlai_q2.turns.passages_of`); None or blank if there is
            nothing, in which case the given order stands.
        :param candidates: at least one, in the generator's order, which decides ties.
        :param history: the turns before the reply, oldest first.
        :raises InputError: if there is no candidate, or the knowledge is neither a text
            nor passages.
        """
        if isinstance(candidates, str):
            raise InputError('rank() takes a list of candidates, not one string.')
        given = [Candidate(c) if isinstance(c, str) else c for c in candidates]
        known = '' if knowledge is None else knowledge
        return self.rank_batch([Pool(known, given, history)])[0]

    def rank_batch(self, pools: Sequence[Pool]) -> list[Ranking]:
        """
        Put the candidates of every pool in order, with one call of the scorer.

        :param pools: B pools, each of at least one candidate.
        :return: B rankings, the same as if each pool had been ranked alone.
        """
        if not all(pool.candidates for pool in pools):
            raise InputError('There is no candidate to rank. Give at least one.')
        pools = [
            replace(
                pool,
                knowledge=stripped(pool.knowledge),
                candidates=tuple(
                    replace(c, place=n) for n, c in enumerate(pool.candidates)
                ),
            )
            for pool in pools
        ]
        kept = [list(range(len(pool.candidates))) for pool in pools]
        if self.prefilter is not None:
            pools = [
                replace(pool, candidates=tuple(map(_prefiltered, pool.candidates)))
                for pool in self._score(self.prefilter, pools, kept)
            ]
            kept = [self._kept(pool.candidates) for pool in pools]
        return [
            choose(pool.candidates, self.rule, pool.knowledge)
            for pool in self._score(self.scorer, pools, kept)
        ]

    def explain(self, turns: Sequence[tuple[Any, Sequence[str], Rows]]) -> None:
        """
        Add evidence to the rows of the chosen candidates and of the generator's first,
        in one call of the evidence scorer. Choosing needs a score for every candidate,
        but people see only these, so a scorer that gives verdicts is asked only about
        them.

        :param turns: B turns, each its knowledge (``Ranking.passages``), the turns
            before it and the rows of its ranking. The rows' ``verdicts``, and
            ``statements`` if they have none, are filled in place, and ``evidence``
            names the scorer by its signature. Rows that have verdicts or no score are
            left alone.
        """
        if self.evidence is None:
            return
        shown = [
            (Example(knowledge, row['text'], tuple(history)), row)
            for knowledge, history, rows in turns
            for row in rows
            if (row['chosen'] or row['first'])
            and row['score'] is not None
            and not row['verdicts']
            and 'evidence' not in row
        ]
        if not shown:
            return
        examples = [example for example, _ in shown]
        signature = str(self.evidence.signature)
        for (_, row), score in zip(shown, self.evidence.score(examples), strict=True):
            row['verdicts'] = [verdict.to_dict() for verdict in score.verdicts]
            row['statements'] = row.get('statements') or [
                statement.to_dict() for statement in score.statements
            ]
            row['evidence'] = signature

    def _score(
        self, scorer: Scorer, pools: Sequence[Pool], kept: Sequence[Sequence[int]]
    ) -> list[Pool]:
        """Call a scorer once on the kept candidates, and apply the guards."""
        owners = [
            (b, n)
            for b, pool in enumerate(pools)
            for n in (kept[b] if pool.knowledge else ())
        ]
        examples = [
            Example(pools[b].knowledge, pools[b].candidates[n].text, pools[b].history)
            for b, n in owners
        ]
        scores = scorer.score(examples) if examples else []
        found = [list(pool.candidates) for pool in pools]
        for (b, n), example, score in zip(owners, examples, scores, strict=True):
            before = found[b][n].prefilter
            # A prefilter that recognises generic replies is believed as well.
            parts = {**(before.parts if before else {}), **score.parts}
            guards = guards_of(
                example.response,
                example.knowledge_text,
                parts,
                score.label,
                example.history,
            )
            value = guarded_value(score, guards, self.penalties, scorer.threshold)
            found[b][n] = replace(found[b][n], score=score, value=value, guards=guards)
        return [
            replace(pool, candidates=tuple(candidates))
            for pool, candidates in zip(pools, found, strict=True)
        ]

    def _kept(self, candidates: Sequence[Candidate]) -> list[int]:
        best = sorted(
            range(len(candidates)), key=lambda n: -candidates[n].prefilter_value
        )
        return sorted({0, *best[: self.prefilter_keep]})


def _loaded(scorer: Union[str, Scorer, None]) -> Optional[Scorer]:
    return load_scorer(scorer) if isinstance(scorer, str) else scorer


def _prefiltered(candidate: Candidate) -> Candidate:
    """A candidate that the prefilter scored, ready for the scorer."""
    return replace(
        candidate,
        score=None,
        value=None,
        guards=(),
        prefilter=candidate.score,
        prefilter_value=candidate.value or 0.0,
    )
