"""
Scores candidates against their knowledge, puts them in order and explains the choice.

The scorer that chooses sees all candidates of a batch in one call; the scorer that
explains sees only the replies that people see, also in one call.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Optional, Union

from parlai_q2.claims import Label, Score
from parlai_q2.errors import ConfigError, InputError
from parlai_q2.io.knowledge import stripped
from parlai_q2.rerank.candidate import Candidate, Ranking
from parlai_q2.rerank.choice import Rule, choose
from parlai_q2.rerank.guards import PENALTIES, Guard, guarded_value, guards_of
from parlai_q2.rerank.pools import Pool
from parlai_q2.rerank.subjects import subjects
from parlai_q2.rerank.unnamed import guard_of
from parlai_q2.scorers.base import Scorer
from parlai_q2.scorers.registry import load_scorer, scorer_class
from parlai_q2.scorers.roles import DEFAULTS, Role
from parlai_q2.steps import Step, tell
from parlai_q2.turns import Example, Knowledge


class Reranker:
    """
    Puts candidate replies in order by how well each is grounded in the knowledge.

    :param choose: the scorer that chooses, or its name.
    :param rule: how to choose; None for the default with the scorer's threshold.
    :param guards: whether copies of the knowledge, generic replies, repetitions of the
        history, misspelt words of the knowledge and replies that do not name what they
        are about lose some of their score (:mod:`~parlai_q2.rerank.guards`).
    :param explain: the scorer that explains the choice when asked, or its name; None
        for what the scorer that chooses says.
    :param penalties: what a guard subtracts, by guard, where it is not as in
        :data:`~parlai_q2.rerank.guards.PENALTIES`.
    :raises ConfigError: if there is no such scorer or guard, or the rule is no Rule.

    >>> from parlai_q2 import Reranker
    >>> replies = ['It opened in 1950.', 'It opened in 1969.']
    >>> Reranker('precision').rank('It opened in 1969.', replies)
    Ranking(best score:
      1.00 'It opened in 1969.'
      0.67 'It opened in 1950.')
    """

    def __init__(
        self,
        choose: Union[str, Scorer] = DEFAULTS[Role.CHOOSE],
        rule: Optional[Rule] = None,
        guards: bool = True,
        explain: Union[str, Scorer, None] = DEFAULTS[Role.EXPLAIN],
        penalties: Mapping[str, float] = PENALTIES,
    ):
        _check_scorer('choose', choose)
        if explain is not None:
            _check_scorer('explain', explain)
        if not isinstance(rule, (Rule, type(None))):
            raise ConfigError(
                f'rule must be a Rule, such as Rule("score"), not {rule!r}.'
            )
        for guard in penalties:
            Guard.named('guard', guard)
        self.chooser = load_scorer(choose) if isinstance(choose, str) else choose
        self.rule = rule or Rule(threshold=self.chooser.threshold)
        self.guards = guards
        self._explain = explain
        self.penalties = {**PENALTIES, **penalties}

    @property
    def explainer(self) -> Optional[Scorer]:
        """The scorer that explains, loaded when it is first asked for; or None."""
        if isinstance(self._explain, str):
            self._explain = load_scorer(self._explain)
        return self._explain

    def rank(
        self,
        knowledge: Optional[Knowledge],
        candidates: Sequence[Union[str, Candidate]],
        history: Sequence[str] = (),
        explain: bool = False,
    ) -> Ranking:
        """
        Put the candidates of one turn in order.

        :param knowledge: what the reply should be grounded in: a text or a list of
            passages (:func:`~parlai_q2.turns.passages_of`); None or blank if there is
            nothing, in which case the given order stands.
        :param candidates: at least one, in the generator's order, which decides ties.
        :param history: the turns before the reply, oldest first.
        :param explain: whether to add evidence, as :meth:`explained` does.
        :raises InputError: if there is no candidate, or one of these is something else.
        """
        known = '' if knowledge is None else knowledge
        ranked = self.rank_batch([Pool(known, candidates, history)])
        return (self.explained(ranked) if explain else ranked)[0]

    def rank_batch(self, pools: Sequence[Pool]) -> list[Ranking]:
        """
        Put the candidates of every pool in order, with one call of the scorer.

        :param pools: B pools, each of at least one candidate.
        :return: B rankings, the same as if each pool had been ranked alone.
        :raises InputError: if they are something else, or one has no candidate.
        """
        _check_all(pools, Pool, 'rank_batch')
        if not all(pool.candidates for pool in pools):
            raise InputError('There is no candidate to rank. Give at least one.')
        known = [stripped(pool.knowledge) for pool in pools]
        examples = [
            Example(passages, candidate.text, pool.history)
            for pool, passages in zip(pools, known, strict=True)
            for candidate in (pool.candidates if passages else ())
        ]
        answered = [
            pool.answered
            for pool, passages in zip(pools, known, strict=True)
            for _ in (pool.candidates if passages else ())
        ]
        number = sum(len(pool.candidates) for pool in pools)
        tell(Step.JUDGING, number)
        scores = self.chooser.score(examples) if examples else []
        tell(Step.CHOOSING, number)
        unnamed = iter(self._unnamed(examples, scores, answered))
        found = iter(zip(examples, scores, strict=True))
        return [
            choose(
                [
                    self._scored(replace(c, place=n), *next(found), next(unnamed))
                    if passages
                    else replace(c, place=n)
                    for n, c in enumerate(pool.candidates)
                ],
                self.rule,
                passages,
            )
            for pool, passages in zip(pools, known, strict=True)
        ]

    def explained(self, rankings: Sequence[Ranking]) -> list[Ranking]:
        """
        Add evidence to the chosen candidates and the generator's first, in one call of
        the scorer that explains. Choosing needs a score for every candidate, but people
        see only these. Those that have evidence or no score are left alone, and so are
        scores with questions, or with claims of the scorer that explains.

        :param rankings: B rankings.
        :return: the same with ``Candidate.evidence``.
        :raises InputError: if they are something else, such as a single ranking.
        """
        _check_all(rankings, Ranking, 'explained')
        explainer = self.explainer
        if explainer is None:
            return list(rankings)
        own = str(explainer.signature)
        shown = [
            (b, n)
            for b, ranking in enumerate(rankings)
            for n, one in enumerate(ranking.candidates)
            if (n == 0 or one is ranking.first)
            and one.score is not None
            and not one.score.asked
            and not (one.score.claims and one.score.signature == own)
            and one.evidence is None
        ]
        found = [list(ranking.candidates) for ranking in rankings]
        examples = [Example(rankings[b].passages, found[b][n].text) for b, n in shown]
        evidence = explainer.score(examples) if examples else []
        for (b, n), score in zip(shown, evidence, strict=True):
            found[b][n] = replace(found[b][n], evidence=score)
        return [
            replace(ranking, candidates=tuple(candidates))
            for ranking, candidates in zip(rankings, found, strict=True)
        ]

    def _unnamed(
        self,
        examples: Sequence[Example],
        scores: Sequence[Score],
        answered: Sequence[Optional[bool]],
    ) -> list[Optional[Guard]]:
        """
        The guards of B replies that do not name what they are about; of those that
        would be chosen: the consistent ones.

        :param answered: as :class:`Pool` has it.
        """
        guards: list[Optional[Guard]] = [None] * len(examples)
        if not self.guards or not self.chooser.has_models:
            return guards
        likely = [
            n
            for n, score in enumerate(scores)
            if score.label == Label.CONSISTENT and examples[n].text and not answered[n]
        ]
        found = subjects([examples[n].response for n in likely])
        for n, subject in zip(likely, found, strict=True):
            guards[n] = guard_of(subject, examples[n])
        return guards

    def _scored(
        self,
        candidate: Candidate,
        example: Example,
        score: Score,
        unnamed: Optional[Guard],
    ) -> Candidate:
        """A candidate with its score, and the value that the guards leave of it."""
        if not self.guards:
            return replace(candidate, score=score, value=score.value)
        found = guards_of(example, score)
        if unnamed:
            found = (*found, unnamed)
        value = guarded_value(score, found, self.chooser.threshold, self.penalties)
        return replace(candidate, score=score, value=value, guards=found)


def _check_scorer(role: str, given: Any) -> None:
    if isinstance(given, str):
        scorer_class(given)
    elif not isinstance(given, Scorer):
        raise ConfigError(f'{role} must be a scorer or the name of one, not {given!r}.')


def _check_all(given: Any, kind: type, method: str) -> None:
    """Check that all of a list are of a kind; an InputError says what to write."""
    if isinstance(given, kind) or not isinstance(given, Sequence):
        raise InputError(
            f'{method}() takes a list of {kind.__name__}, not one. Write '
            f'{method}([{kind.__name__.lower()}]).'
        )
    for one in given:
        if not isinstance(one, kind):
            raise InputError(
                f'{method}() takes a list of {kind.__name__}, but there is a '
                f'{type(one).__name__} in it.'
            )
