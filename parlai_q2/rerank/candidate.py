"""Candidate replies to a turn, and a turn with its candidates, a pool."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any

from parlai_q2.claims import Claim, Label, Score, Status
from parlai_q2.errors import InputError
from parlai_q2.text.normalize import tokens
from parlai_q2.turns import Knowledge, Turn, without_surrogates

# The strategy name of the search for replies that begin with a name.
NAMED = 'named'
_SEPARATOR = r"\s.,;:!?'\"“”‘’()"
# White space and punctuation, except between digits: 1.5 is not 15.
_SEPARATORS = re.compile(
    rf'(?<![\d{_SEPARATOR}])[{_SEPARATOR}]+|[{_SEPARATOR}]+(?![\d{_SEPARATOR}])'
)
# The beginning of ".5", but not of the year in "No.1" or "It was...5".
_BARE_DECIMAL = re.compile(r'(?<![\w.])\.(?=\d)')


@dataclass(frozen=True)
class Candidate:
    """
    One candidate reply.

    Only the text is required. The next four fields come from the generator, the others
    from the reranker.

    :param text: lone surrogates in it are replaced, as in
        :class:`~parlai_q2.turns.Turn`.
    :param strategies: the searches that returned it.
    :param generator_score: its score in the first of them; None if unknown.
    :param mean_logprob: the mean log probability of its tokens under the generator, in
        nats; None if unknown, minus infinity if the generator rules it out.
    :param source: the generator's own record of the candidate.
    :param place: its index in the generator's order, from 0.
    :param score: the score of the scorer that chooses; None if there is no knowledge.
    :param guarded_score: the score's value after the guards, in [0, 1]; None without a
        score.
    :param guards: the names of the guards that hold.
    :param relevance: how well it answers the turn, in [0, 1]; None if not computed.
    :param right_answer: how likely it is the right answer to the turn by the knowledge,
        in [0, 1]; None if not computed.
    :param agreement: how far the other candidates have the same words
        (:func:`with_agreement`), in [0, 1]; None if not computed, or without others.
    :param worth: how surely a person would send it, by the rule ``combined``
        (:func:`~parlai_q2.rerank.worth.worth_of`), in [0, 1]; None if not computed.
    :param evidence: the score of the scorer that explains; None without explanation.
    :param answer: the turn's question with its answers in the reply and in the
        knowledge, and how they compare; None if it was not explained or nothing was
        asked.

    >>> Candidate('Bees have five eyes.').score is None
    True
    """

    text: str
    strategies: tuple[str, ...] = ()
    generator_score: float | None = None
    mean_logprob: float | None = None
    source: Any = field(default=None, repr=False)
    place: int = 0
    score: Score | None = None
    guarded_score: float | None = None
    guards: tuple[str, ...] = ()
    relevance: float | None = None
    right_answer: float | None = None
    agreement: float | None = None
    worth: float | None = None
    evidence: Score | None = None
    answer: Claim | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, 'text', without_surrogates(self.text))

    @property
    def verifiable(self) -> bool:
        """Whether it was scored and contained anything to verify."""
        return self.score is not None and self.score.verifiable

    @property
    def penalty(self) -> float:
        """The points that guards took from its score."""
        if self.score is None or self.guarded_score is None or not self.guards:
            return 0.0
        return max(self.score.value - self.guarded_score, 0.0)

    @property
    def choice_values(self) -> dict[str, float]:
        """
        What was read of it to choose by the default rule, in [0, 1], by the names that
        people see; agreement only if it counted.
        """
        values = {
            'relevance': self.relevance,
            'right answer': self.right_answer,
            'agreement': None if self.right_answer is None else self.agreement,
            'worth': self.worth,
        }
        return {name: value for name, value in values.items() if value is not None}

    @property
    def displayed_score(self) -> Score | None:
        """
        Its score with the claims that people see: those of the scorer that explains, if
        it was asked and returned any, as far as they agree with the score
        (:attr:`~parlai_q2.claims.Score.as_judged`); None without a score.
        """
        if self.score is None or self.evidence is None or not self.evidence.claims:
            return self.score
        is_consistent = self.score.label == Label.CONSISTENT
        if is_consistent and any(
            claim.status in (Status.UNSUPPORTED, Status.CONTRADICTED)
            for claim in self.evidence.claims
        ):
            return self.score
        return replace(self.score, claims=self.evidence.claims).as_judged


def unranked(
    candidate: Candidate, place: int, keep_right_answer: bool = False
) -> Candidate:
    """A candidate at a place, without what an earlier ranking read of it."""
    return replace(
        candidate,
        place=place,
        score=None,
        guarded_score=None,
        guards=(),
        relevance=None,
        right_answer=candidate.right_answer if keep_right_answer else None,
        agreement=None,
        worth=None,
        evidence=None,
        answer=None,
    )


@dataclass(frozen=True, init=False)
class Pool(Turn):
    """
    A turn with the candidates for its reply.

    :param candidates: N candidates in the generator's order, each a text or a
        :class:`Candidate`.

    >>> Pool('Bees have five eyes.', ['Five!']).candidates[0].text
    'Five!'
    """

    candidates: tuple[Candidate, ...] = ()

    def __init__(
        self,
        knowledge: Knowledge = '',
        candidates: Iterable[str | Candidate] = (),
        history: Sequence[str] = (),
        id: str | None = None,
    ):
        super().__init__(knowledge, history, id)
        object.__setattr__(self, 'candidates', _candidates(candidates))


def _candidates(values: Any) -> tuple[Candidate, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(
            f'Candidates must be a list, not {type(values).__name__}: ["It is far."]'
        )
    candidates = tuple(
        Candidate(value) if isinstance(value, str) else value for value in values
    )
    for value in candidates:
        if not isinstance(value, Candidate):
            raise InputError(
                'A candidate must be a string or a Candidate, not '
                f'{type(value).__name__}. Write Candidate("It is far.").'
            )
    return candidates


def duplicate_key(text: str) -> str:
    """
    A key that is equal for texts that differ only in case, punctuation and spaces.

    >>> duplicate_key('It was 1.5 m.') == duplicate_key('it was 1.5 m!')
    True
    >>> duplicate_key('1.5 m') == duplicate_key('15 m')
    False
    >>> duplicate_key('Rooms 1, 2') == duplicate_key('Rooms 12')
    False
    >>> duplicate_key('It costs $.50') == duplicate_key('It costs $50')
    False
    """
    text = _BARE_DECIMAL.sub('0.', text.casefold())
    return _SEPARATORS.sub('', text) or ''.join(text.split())


def distinct_candidates(candidates: Iterable[Candidate]) -> list[Candidate]:
    """
    One candidate for each text that is not blank (:func:`duplicate_key`), in order of
    first appearance, with all searches that returned it; empty if there are none.

    >>> given = [Candidate(' '), Candidate('Five.'), Candidate('five')]
    >>> [candidate.text for candidate in distinct_candidates(given)]
    ['Five.']
    """
    merged: dict[str, Candidate] = {}
    for candidate in candidates:
        if not candidate.text.strip():
            continue
        key = duplicate_key(candidate.text)
        first = merged.setdefault(key, candidate)
        if first is not candidate:
            strategies = dict.fromkeys((*first.strategies, *candidate.strategies))
            merged[key] = replace(first, strategies=tuple(strategies))
    return list(merged.values())


def with_agreement(candidates: Sequence[Candidate]) -> list[Candidate]:
    """
    The candidates with their agreement: the mean, over the other distinct candidates,
    of the words that both have among those that either has. A statement that a
    generator writes once is less often right than one in many replies.

    >>> replies = map(Candidate, ['It is red.', 'It is blue.', 'So it is blue!'])
    >>> [round(candidate.agreement, 2) for candidate in with_agreement([*replies])]
    [0.45, 0.62, 0.57]
    """
    keys = [duplicate_key(candidate.text) for candidate in candidates]
    words = {
        key: frozenset(tokens(candidate.text))
        for key, candidate in zip(keys, candidates, strict=True)
    }
    if len(words) < 2:
        return list(candidates)
    rated = []
    for key, candidate in zip(keys, candidates, strict=True):
        shares = [_share(words[key], words[other]) for other in words if other != key]
        rated.append(replace(candidate, agreement=fmean(shares)))
    return rated


def _share(words: frozenset[str], others: frozenset[str]) -> float:
    """The share of words that both have among those that either has; 0 for none."""
    return len(words & others) / max(len(words | others), 1)


def first_distinct(candidates: Iterable[Candidate], number: int) -> list[Candidate]:
    """The first distinct candidates of a search, at most ``number``."""
    distinct: dict[str, Candidate] = {}
    for candidate in candidates:
        if len(distinct) == number:
            break
        distinct.setdefault(duplicate_key(candidate.text), candidate)
    return list(distinct.values())
