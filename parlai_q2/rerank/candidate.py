"""Candidate replies, and their ranking with the rows that report it."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Optional

from parlai_q2.claims import Kind, Label, Score
from parlai_q2.enums import plain
from parlai_q2.errors import InputError
from parlai_q2.io.knowledge import as_field
from parlai_q2.turns import Passage, joined, passages_of
from parlai_q2.typed import is_number, list_in, mapping, text_in

# A printed ranking shows so many candidates, each cut to so many characters.
SHOWN, WIDTH = 8, 66


# The search that begins with a name, where what was found has none.
NAMED = 'named'


@dataclass(frozen=True)
class Candidate:
    """
    One reply that could be said.

    Only the text is needed. The first fields come from the generator: the searches that
    found it, its score in the first of them, the mean log probability of its tokens (in
    nats) and the generator's own record. The reranker fills in the others.

    :param place: its place in the generator's order, from 0.
    :param score: the score of the scorer that chooses; None if there is no knowledge.
    :param value: the score's value after the guards, in [0, 1]; None like the score.
    :param guards: in which ways it is degenerate: words of
        :class:`~parlai_q2.rerank.guards.Guard`.
    :param evidence: what the scorer that explains found, if it was asked.

    >>> Candidate('Bees have five eyes.').score is None
    True
    """

    text: str
    strategies: tuple[str, ...] = ()
    generator_score: float = 0.0
    mean_logprob: float = 0.0
    source: Any = field(default=None, repr=False)
    place: int = 0
    score: Optional[Score] = None
    value: Optional[float] = None
    guards: tuple[str, ...] = ()
    evidence: Optional[Score] = None

    @property
    def verifiable(self) -> bool:
        """Whether it was scored and contained anything to verify."""
        return self.score is not None and self.score.verifiable

    @property
    def shown(self) -> Optional[Score]:
        """
        Its score with the claims that people are shown: those of the scorer that
        explains, if it was asked and found any, as far as they agree with the score
        (:attr:`~parlai_q2.claims.Score.as_judged`); None without a score.
        """
        if self.score is None or self.evidence is None or not self.evidence.claims:
            return self.score
        return replace(self.score, claims=self.evidence.claims).as_judged


def merge(candidates: Sequence[Candidate]) -> list[Candidate]:
    """
    One candidate for each text, in order of first appearance, with all searches that
    found it. Texts that differ only in white space count as one.
    """
    merged: dict[str, Candidate] = {}
    for candidate in candidates:
        key = ' '.join(candidate.text.split())
        before = merged.setdefault(key, candidate)
        if before is not candidate:
            more = [s for s in candidate.strategies if s not in before.strategies]
            merged[key] = replace(before, strategies=(*before.strategies, *more))
    return list(merged.values())


def spoken(candidates: Sequence[Candidate]) -> list[Candidate]:
    """
    The candidates that have a text, duplicates merged; empty if there are none.

    >>> [one.text for one in spoken([Candidate(' '), Candidate('Five.')])]
    ['Five.']
    """
    return merge([one for one in candidates if one.text.strip()])


@dataclass(frozen=True, repr=False)
class Ranking:
    """
    The candidates of one turn in their new order.

    :param candidates: N candidates, best first.
    :param reason: why the first was chosen, one of the texts in
        :class:`~parlai_q2.rerank.choice.Reason`.
    :param abstain: whether to say that one does not know instead.
    :param passages: the knowledge they were scored against; empty if there is none.

    >>> ranking = Ranking((Candidate('Five.'), Candidate('Six.')), 'best score')
    >>> ranking.chosen.text, ranking.grounded
    ('Five.', False)
    >>> [candidate.text for candidate in ranking]
    ['Five.', 'Six.']
    """

    candidates: tuple[Candidate, ...]
    reason: str
    abstain: bool = False
    passages: tuple[Passage, ...] = ()

    def __post_init__(self) -> None:
        if not self.candidates:
            raise InputError('A ranking must have at least one candidate.')

    def __len__(self) -> int:
        return len(self.candidates)

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.candidates)

    def __getitem__(self, place: int) -> Candidate:
        return self.candidates[place]

    @property
    def knowledge(self) -> str:
        """The passages as one text."""
        return joined(self.passages)

    @property
    def chosen(self) -> Candidate:
        """The best candidate."""
        return self.candidates[0]

    @property
    def first(self) -> Candidate:
        """The candidate that came first in the generator's order."""
        return min(self.candidates, key=lambda candidate: candidate.place)

    @property
    def order(self) -> list[int]:
        """The places that the candidates had before, best first."""
        return [candidate.place for candidate in self.candidates]

    @property
    def verifiable(self) -> bool:
        """Whether any candidate contained anything to verify."""
        return any(candidate.verifiable for candidate in self.candidates)

    @property
    def grounded(self) -> bool:
        """
        Whether any candidate is consistent with the knowledge; not if there is none.
        """
        return any(
            one.score is not None and one.score.label == Label.CONSISTENT
            for one in self.candidates
        )

    @property
    def signature(self) -> str:
        """The signature of the scores; empty if there are none."""
        return next((c.score.signature for c in self.candidates if c.score), '')

    def __repr__(self) -> str:
        shown = self.candidates[:SHOWN]
        lines = [f'  {_value(one)} {_short(one.text)!r}' for one in shown]
        if len(self.candidates) > SHOWN:
            lines.append(f'  and {len(self.candidates) - SHOWN} more')
        return '\n'.join([f'Ranking({self.reason}:', *lines]) + ')'

    def rows(self) -> list[dict[str, Any]]:
        """
        A JSON-safe row for each candidate, best first.

        :return: ``text``, ``strategies``, ``place`` (in the generator's order),
            ``generator_score`` and ``mean_logprob`` (None if not finite), the fields of
            ``Score.to_dict`` but the signature (score and label are None for a
            candidate that was not scored), ``guards``, ``guarded_score``, ``evidence``
            (the score of the scorer that explains, or None), ``chosen``, ``first``
            (whether it was the generator's first) and ``reason`` (for the chosen one).
        """
        return [
            plain(
                {
                    'text': one.text,
                    'strategies': list(one.strategies),
                    'place': one.place,
                    'generator_score': _finite(one.generator_score),
                    'mean_logprob': _finite(one.mean_logprob),
                    **_scored(one),
                    'guards': list(one.guards),
                    'guarded_score': one.value,
                    'evidence': one.evidence.to_dict() if one.evidence else None,
                    'chosen': one is self.chosen,
                    'first': one is self.first,
                    'reason': self.reason if one is self.chosen else None,
                }
            )
            for one in self.candidates
        ]

    def to_dict(self) -> dict[str, Any]:
        """
        The ranking as JSON-safe values; the generator's own records of its candidates
        (:attr:`Candidate.source`) are left out.

        :return: ``kind``, ``order``, ``reason``, ``abstained``, ``grounded`` (whether
            any candidate is), ``rerank`` (:meth:`rows`), ``rerank_knowledge`` and
            ``rerank_signature``.
        """
        return plain(
            {
                'kind': Kind.RANKING,
                'order': self.order,
                'reason': self.reason,
                'abstained': self.abstain,
                'grounded': self.grounded,
                'rerank': self.rows(),
                'rerank_knowledge': as_field(self.passages),
                'rerank_signature': self.signature,
            }
        )

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> 'Ranking':
        """
        Read back what :meth:`to_dict` returned; of a candidate, only its text must be
        there.

        :raises InputError: if it is something else; names the candidate.

        >>> ranking = Ranking((Candidate('Five.'),), 'best score')
        >>> Ranking.from_dict(ranking.to_dict()) == ranking
        True
        """
        signature = text_in(mapping(fields, 'a ranking'), 'rerank_signature', '')
        rows = list_in(fields, 'rerank')
        if not rows or not mapping(rows[0], 'candidate 1').get('chosen'):
            raise InputError("'rerank' must have the candidates, the chosen one first")
        found = []
        for number, row in enumerate(rows, start=1):
            try:
                found.append(_candidate(mapping(row, 'it'), number, signature))
            except InputError as e:
                raise InputError(f'candidate {number} cannot be read: {e}') from e
        return cls(
            tuple(found),
            text_in(rows[0], 'reason', ''),
            bool(fields.get('abstained')),
            passages_of(fields.get('rerank_knowledge') or ''),
        )


def _candidate(row: Mapping[str, Any], number: int, signature: str) -> Candidate:
    score, evidence, value = None, row.get('evidence'), row.get('guarded_score')
    if row.get('score') is not None:
        score = Score.from_dict({**row, 'signature': signature})
    place = row.get('place', 0 if row.get('first') else number)
    if type(place) is not int or not (value is None or is_number(value)):
        raise InputError("'place' and 'guarded_score' must be numbers")
    return Candidate(
        text_in(row, 'text'),
        tuple(map(str, list_in(row, 'strategies'))),
        _infinite(row.get('generator_score')),
        _infinite(row.get('mean_logprob')),
        place=place,
        score=score,
        value=value,
        guards=tuple(map(str, list_in(row, 'guards'))),
        evidence=None if evidence is None else Score.from_dict(evidence),
    )


def _scored(candidate: Candidate) -> dict[str, Any]:
    if candidate.score is None:
        unscored = {'score': None, 'label': None, 'fallback': False}
        return {**unscored, 'claims': [], 'parts': {}}
    fields = candidate.score.to_dict()
    # All rows share one signature, which is reported beside them.
    return {k: v for k, v in fields.items() if k not in ('kind', 'signature')}


def _finite(value: float) -> Optional[float]:
    return value if math.isfinite(value) else None


def _infinite(value: Any) -> float:
    # A generator that gives no finite number thinks a candidate impossible.
    return float(value) if is_number(value) else -math.inf


def _value(candidate: Candidate) -> str:
    return '----' if candidate.value is None else f'{candidate.value:.2f}'


def _short(text: str) -> str:
    return text if len(text) <= WIDTH else f'{text[: WIDTH - 3]}...'
