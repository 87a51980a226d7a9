"""
Scores candidates against their knowledge, puts them in order and explains the choice.

The scorer that chooses gets all candidates of a batch in one call, and so do the guards
and the model that reads relevance. The scorer that explains gets only the replies that
people see, also in one call.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from parlai_q2.claims import Score
from parlai_q2.errors import ConfigError, InputError, UnknownNameError
from parlai_q2.presets import load_preset
from parlai_q2.rerank.candidate import Candidate, Pool, unranked, with_agreement
from parlai_q2.rerank.choice import RerankBy, Rule, choose, find_contenders
from parlai_q2.rerank.guards import (
    GUARDS,
    Guard,
    ScoredReply,
    apply_penalties,
    detect_guards,
)
from parlai_q2.rerank.ranking import Ranking
from parlai_q2.rerank.relevance import (
    AnswerComparer,
    RelevanceReader,
    TurnReader,
    wants_span,
)
from parlai_q2.rerank.worth import wants_reply
from parlai_q2.scorers.base import Scorer
from parlai_q2.scorers.registry import DEFAULT_PRESET, load_scorer, scorer_class
from parlai_q2.scorers.roles import DEFAULTS, Role
from parlai_q2.text.prepare import prepare_passage
from parlai_q2.turns import Example, Knowledge, Passage, Turn, stripped


class Reranker:
    """
    Ranks candidate replies by how well the knowledge supports them and how well they
    answer their turn.

    :param choose: the scorer that measures groundedness for the choice, or its name.
    :param rule: how to choose; None for the default.
    :param guards: the guards that apply; True for all of
        :data:`~parlai_q2.rerank.guards.GUARDS`, False for none.
    :param explain: the scorer that explains the choice on request, or its name; None
        for the claims of the scorer that chooses.
    :param penalties: other penalties of guards, by name.
    :param relevance: a reader of relevance, or the name of the preset with its models;
        True for ``preset``; None: ignore relevance. Only the rule ``combined`` uses it.
    :param preset: the models of scorers that are given by name: ``mini``, the larger
        ``base``, or the path of a YAML file.
    :raises ConfigError: if a scorer or guard does not exist, or an argument has another
        type.

    >>> from parlai_q2 import Reranker
    >>> replies = ['It opened in 1950.', 'It opened in 1969.']
    >>> Reranker('precision').rank('It opened in 1969.', replies)
    Ranking(best score:
      1.00 'It opened in 1969.'
      0.67 'It opened in 1950.')
    """

    def __init__(
        self,
        choose: str | Scorer = DEFAULTS[Role.CHOOSE],
        rule: Rule | None = None,
        guards: bool | Sequence[Guard] = True,
        explain: str | Scorer | None = DEFAULTS[Role.EXPLAIN],
        penalties: Mapping[str, float] | None = None,
        relevance: str | RelevanceReader | bool | None = True,
        preset: str = DEFAULT_PRESET,
    ):
        _check_scorer('choose', choose)
        if explain is not None:
            _check_scorer('explain', explain)
        if not isinstance(rule, (Rule, type(None))):
            raise ConfigError(
                f'rule must be a Rule, such as Rule("score"), not {rule!r}.'
            )
        self._preset = load_preset(preset)
        self.chooser = self._load(choose)
        self.rule = rule or Rule()
        if self.rule.threshold is None and 0 <= self.chooser.threshold <= 1:
            self.rule = replace(self.rule, threshold=self.chooser.threshold)
        if isinstance(guards, bool):
            guards = GUARDS if guards else ()
        if not isinstance(guards, Sequence):
            raise ConfigError(f'guards must be a bool or Guards, not {guards!r}.')
        self.guards = tuple(guards)
        for guard in self.guards:
            if not isinstance(guard, Guard):
                raise ConfigError(f'guards must be a bool or Guards, not {guard!r}.')
        if isinstance(relevance, bool):
            relevance = preset if relevance else None
        if not (
            isinstance(relevance, (str, type(None)))
            or hasattr(relevance, 'read_relevance')
        ):
            raise ConfigError(
                'relevance must be a reader, the name of a preset or None, not '
                f'{relevance!r}.'
            )
        if isinstance(relevance, str):
            load_preset(relevance)  # a wrong name fails here, and not at the first turn
        self.penalties = {guard.name: guard.penalty for guard in GUARDS + self.guards}
        for name in penalties or ():
            if name not in self.penalties:
                raise UnknownNameError('guard', name, self.penalties)
        self.penalties.update(penalties or {})
        self._explain = explain
        self._relevance = relevance
        self._answer_comparer: AnswerComparer | None = None

    @property
    def explainer(self) -> Scorer | None:
        """The scorer that explains, loaded on first use; or None."""
        if isinstance(self._explain, str):
            self._explain = self._load(self._explain)
        return self._explain

    def _load(self, scorer: str | Scorer) -> Scorer:
        if isinstance(scorer, str):
            return load_scorer(scorer, self._preset)
        return scorer

    @property
    def is_thread_safe(self) -> bool:
        """Whether several threads may rank at once; guards may, as far as they ship."""
        has_own_reader = isinstance(self._relevance, (str, TurnReader, type(None)))
        scorers = (self.chooser, self.explainer)
        return has_own_reader and all(s is None or s.is_thread_safe for s in scorers)

    @property
    def relevance_reader(self) -> RelevanceReader | None:
        """The reader of relevance, loaded on first use; or None."""
        reader = self._relevance
        if isinstance(reader, str):
            reader = self._relevance = TurnReader.of(load_preset(reader))
        return reader

    @property
    def answer_comparer(self) -> AnswerComparer:
        """Compares the answers of knowledge and reply, loaded on first use."""
        if self._answer_comparer is None:
            self._answer_comparer = AnswerComparer()
        return self._answer_comparer

    def rank(
        self,
        knowledge: Knowledge | None,
        candidates: Sequence[str | Candidate],
        history: Sequence[str] = (),
        explain: bool = False,
    ) -> Ranking:
        """
        Put the candidates of one turn in order.

        :param knowledge: the knowledge that should support the reply: a text or a list
            of passages (:func:`~parlai_q2.turns.passages_of`); if None or blank, the
            given order stands.
        :param candidates: at least one, in the generator's order, which decides ties.
        :param history: the turns before the reply, oldest first. The last one is the
            turn that the reply should answer.
        :param explain: whether to add evidence, as :meth:`explained` does.
        :raises InputError: if there is no candidate, or an argument has another type.
        """
        pool = Pool('' if knowledge is None else knowledge, candidates, history)
        rankings = self.rank_batch([pool])
        return (self.explained(rankings) if explain else rankings)[0]

    def rank_batch(
        self, pools: Sequence[Pool], keep_right_answers: bool = False
    ) -> list[Ranking]:
        """
        Put the candidates of every pool in order, with one call of each model.

        :param pools: B pools, each of at least one candidate.
        :param keep_right_answers: whether ``right_answer`` of candidates that were
            ranked before stays; only for the same turns.
        :return: B rankings, the same as if each pool had been ranked alone.
        :raises InputError: if they have another type, or one has no candidate.
        """
        _check_list(pools, Pool, 'rank_batch')
        if not all(pool.candidates for pool in pools):
            raise InputError('There is no candidate to rank. Give at least one.')
        turns = [Turn(_known(pool.knowledge), pool.history) for pool in pools]
        scored = self._score(pools, turns, keep_right_answers)
        self._read_relevance(scored, turns)
        self._set_guarded_scores(scored, turns)
        self._read_right_answers(scored, turns)
        return [
            choose(candidates, self.rule, turn.knowledge, turn.text)
            for candidates, turn in zip(scored, turns, strict=True)
        ]

    def explained(self, rankings: Sequence[Ranking]) -> list[Ranking]:
        """
        Add evidence to the chosen candidates and the generator's first, in one call of
        the scorer that explains. Choosing needs a score for every candidate, but people
        see only these. Candidates that have evidence or no score are left alone, and so
        are scores with questions, or with claims of the scorer that explains.

        :param rankings: B rankings.
        :return: the same with ``Candidate.evidence``.
        :raises InputError: if they have another type, such as a single ranking.
        """
        _check_list(rankings, Ranking, 'explained')
        if self.explainer is None:
            return list(rankings)
        explained = [list(ranking.candidates) for ranking in rankings]
        places: list[tuple[int, int]] = []
        for b, ranking in enumerate(rankings):
            places += [(b, n) for n in {0, ranking.candidates.index(ranking.first)}]
        self._add_evidence(explained, places, rankings)
        self._compare_answers(explained, places, rankings)
        return [
            replace(ranking, candidates=tuple(candidates))
            for ranking, candidates in zip(rankings, explained, strict=True)
        ]

    def _add_evidence(
        self,
        candidates: Sequence[list[Candidate]],
        candidate_places: Sequence[tuple[int, int]],
        rankings: Sequence[Ranking],
    ) -> None:
        """Add the explainer's evidence to the candidates at some places."""
        explainer = self.explainer
        assert explainer is not None
        signature = str(explainer.signature)
        places = [
            (b, n)
            for b, n in candidate_places
            if _lacks_evidence(candidates[b][n], signature)
        ]
        examples = [
            Example(rankings[b].passages, candidates[b][n].text) for b, n in places
        ]
        evidence = explainer.score(examples) if examples else []
        _set_fields(candidates, places, evidence=evidence)

    def _compare_answers(
        self,
        candidates: Sequence[list[Candidate]],
        candidate_places: Sequence[tuple[int, int]],
        rankings: Sequence[Ranking],
    ) -> None:
        """Add the answers to the turn's question, if relevance was read."""
        places = [
            (b, n)
            for b, n in candidate_places
            if candidates[b][n].relevance is not None
            and candidates[b][n].answer is None
            and wants_span(rankings[b].turn)
        ]
        if not places:
            return
        turns = [Turn(r.passages, [r.turn]) for r in rankings]
        pairs = [(turns[b], candidates[b][n].text) for b, n in places]
        _set_fields(candidates, places, answer=self.answer_comparer.compare(pairs))

    def _score(
        self, pools: Sequence[Pool], turns: Sequence[Turn], keep_right_answers: bool
    ) -> list[list[Candidate]]:
        """Score the candidates of pools with knowledge, and apply the guards."""
        scored = [
            [
                unranked(candidate, place, keep_right_answers)
                for place, candidate in enumerate(pool.candidates)
            ]
            for pool in pools
        ]
        places = _places(scored, [bool(turn.knowledge) for turn in turns])
        examples = [
            Example(turns[b].knowledge, scored[b][n].text, turns[b].history)
            for b, n in places
        ]
        scores = self.chooser.score(examples) if examples else []
        threshold, has_models = self.chooser.threshold, self.chooser.has_models
        replies = [
            ScoredReply(example, score, threshold, has_models)
            for example, score in zip(examples, scores, strict=True)
        ]
        names = detect_guards(replies, self.guards)
        _set_fields(scored, places, score=scores, guards=names)
        return scored

    def _set_guarded_scores(
        self, scored: Sequence[list[Candidate]], turns: Sequence[Turn]
    ) -> None:
        """Set the scores of candidates after the guards."""
        for candidates, turn in zip(scored, turns, strict=True):
            for n, candidate in enumerate(candidates):
                if candidate.score is not None:
                    score = self._guarded_score(candidate, candidate.score, turn)
                    candidates[n] = replace(candidate, guarded_score=score)

    def _guarded_score(self, candidate: Candidate, score: Score, turn: Turn) -> float:
        if not self.guards:
            return score.value
        penalties = dict(self.penalties)
        if candidate.relevance is not None and wants_reply(turn.text):
            covered = {g.name: 0.0 for g in self.guards if g.covered_by_relevance}
            penalties |= covered
        names = candidate.guards
        return apply_penalties(score, names, penalties, self.chooser.threshold)

    def _needs_reading(self, turns: Sequence[Turn]) -> list[bool]:
        """Whether the relevance of the replies to each turn is read."""
        is_read = self.rule.by == RerankBy.COMBINED and self._relevance is not None
        return [is_read and bool(t.knowledge and t.text.strip()) for t in turns]

    def _read_relevance(
        self, scored: Sequence[list[Candidate]], turns: Sequence[Turn]
    ) -> None:
        """Read the relevance of all candidates after a turn, in one call."""
        needs_reading = self._needs_reading(turns)
        places = _places(scored, needs_reading)
        if not places or (reader := self.relevance_reader) is None:
            return
        for candidates, is_read in zip(scored, needs_reading, strict=True):
            if is_read:
                candidates[:] = with_agreement(candidates)
        pairs = [(turns[b], scored[b][n].text) for b, n in places]
        relevance = map(float, reader.read_relevance(pairs))
        _set_fields(scored, places, relevance=relevance)

    def _read_right_answers(
        self, scored: Sequence[list[Candidate]], turns: Sequence[Turn]
    ) -> None:
        """Read whether the contenders are right answers, in one call."""
        places = [
            (b, n)
            for b, is_read in enumerate(self._needs_reading(turns))
            if is_read
            for n in find_contenders(scored[b], turns[b].text)
        ]
        if not places or (reader := self.relevance_reader) is None:
            return
        pairs = [(turns[b], scored[b][n].text) for b, n in places]
        right_answers = map(float, reader.read_right_answers(pairs))
        _set_fields(scored, places, right_answer=right_answers)


def _known(passages: tuple[Passage, ...]) -> tuple[Passage, ...]:
    """Passages without white space around them; none if they are blank, or markup."""
    passages = stripped(passages)
    has_any = any(prepare_passage(passage.text).text.strip() for passage in passages)
    return passages if has_any else ()


def _places(
    scored: Sequence[list[Candidate]], is_wanted: Sequence[bool]
) -> list[tuple[int, int]]:
    """The pool and the place of every candidate of some pools."""
    return [
        (b, n)
        for b, wanted in enumerate(is_wanted)
        if wanted
        for n in range(len(scored[b]))
    ]


def _set_fields(
    candidates: Sequence[list[Candidate]],
    places: Sequence[tuple[int, int]],
    **fields: Any,
) -> None:
    """Set fields of the candidates at some places."""
    for (b, n), *values in zip(places, *fields.values(), strict=True):
        candidates[b][n] = replace(
            candidates[b][n], **dict(zip(fields, values, strict=True))
        )


def _lacks_evidence(candidate: Candidate, signature: str) -> bool:
    """Whether a candidate needs the scorer with this signature to explain it."""
    score = candidate.score
    return (
        score is not None
        and candidate.evidence is None
        and not score.question_claims
        and not (score.claims and score.signature == signature)
    )


def _check_scorer(role: str, scorer: Any) -> None:
    if isinstance(scorer, str):
        scorer_class(scorer)
    elif not isinstance(scorer, Scorer):
        raise ConfigError(
            f'{role} must be a scorer or the name of one, not {scorer!r}.'
        )


def _check_list(values: Any, kind: type, method: str) -> None:
    """Check that all items of a list have a type; the InputError says what to write."""
    if isinstance(values, kind) or not isinstance(values, Sequence):
        raise InputError(
            f'{method}() takes a list of {kind.__name__}, not one. Write '
            f'{method}([{kind.__name__.lower()}]).'
        )
    for value in values:
        if not isinstance(value, kind):
            raise InputError(
                f'{method}() takes a list of {kind.__name__}, but there is a '
                f'{type(value).__name__} in it.'
            )
