"""The candidates of one turn in their new order, and the rows that report them."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from parlai_q2.claims import Claim, Kind, Label, Score
from parlai_q2.errors import InputError
from parlai_q2.json_values import is_number, list_in, mapping, text_in
from parlai_q2.options import plain
from parlai_q2.rerank.candidate import Candidate
from parlai_q2.turns import Passage, as_field, joined, passages_of

# A printed ranking shows this many candidates, each cut to this many characters.
MAX_PRINTED, PRINTED_WIDTH = 8, 66


@dataclass(frozen=True, repr=False)
class Ranking:
    """
    The candidates of one turn in their new order.

    :param candidates: N candidates, best first.
    :param reason: why the first was chosen, one of the texts in
        :class:`~parlai_q2.rerank.choice.Reason`.
    :param abstain: whether to abstain instead of returning the first.
    :param passages: the knowledge they were scored against; empty if there is none.
    :param turn: the turn that the reply answers; empty if there is none.

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
    turn: str = ''

    def __post_init__(self) -> None:
        if not self.candidates:
            raise InputError('A ranking must have at least one candidate.')

    def __len__(self) -> int:
        return len(self.candidates)

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.candidates)

    def __getitem__(self, index: int) -> Candidate:
        return self.candidates[index]

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
        """The candidates' original indices, best first."""
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
            candidate.score is not None and candidate.score.label == Label.CONSISTENT
            for candidate in self.candidates
        )

    @property
    def signature(self) -> str:
        """The signature of the scores; empty if there are none."""
        return next((c.score.signature for c in self.candidates if c.score), '')

    def __repr__(self) -> str:
        lines = [
            f'  {_format_value(c.guarded_score)} {_shorten(c.text)!r}{_format_notes(c)}'
            for c in self.candidates[:MAX_PRINTED]
        ]
        if len(self.candidates) > MAX_PRINTED:
            lines.append(f'  and {len(self.candidates) - MAX_PRINTED} more')
        return '\n'.join([f'Ranking({self.reason}:', *lines]) + ')'

    def rows(self) -> list[dict[str, Any]]:
        """
        A JSON-safe row for each candidate, best first.

        :return: ``text``, ``strategies``, ``place`` (in the generator's order),
            ``generator_score`` and ``mean_logprob`` (None if unknown or not finite),
            the fields of ``Score.to_dict`` but the signature (score and label are None
            for a candidate that was not scored), ``guards``, ``guarded_score``,
            ``relevance``, ``right_answer``, ``agreement`` and ``worth`` (None if not
            computed),
            ``answer`` (a ``Claim.to_dict`` or None), ``evidence`` (the score of the
            scorer that explains, or None), ``chosen``, ``first`` (whether it was the
            generator's first) and ``reason`` (of the chosen one).
        """
        first = self.first
        return [
            plain(
                {
                    'text': candidate.text,
                    'strategies': list(candidate.strategies),
                    'place': candidate.place,
                    'generator_score': _finite(candidate.generator_score),
                    'mean_logprob': _finite(candidate.mean_logprob),
                    **_score_fields(candidate.score),
                    'guards': list(candidate.guards),
                    'guarded_score': candidate.guarded_score,
                    'relevance': candidate.relevance,
                    'right_answer': candidate.right_answer,
                    'agreement': candidate.agreement,
                    'worth': candidate.worth,
                    'answer': candidate.answer.to_dict() if candidate.answer else None,
                    'evidence': (
                        candidate.evidence.to_dict() if candidate.evidence else None
                    ),
                    'chosen': candidate is self.chosen,
                    'first': candidate is first,
                    'reason': self.reason if candidate is self.chosen else None,
                }
            )
            for candidate in self.candidates
        ]

    def to_dict(self) -> dict[str, Any]:
        """
        The ranking as JSON-safe values; the generator's own records of its candidates
        (:attr:`Candidate.source`) are left out.

        :return: ``kind``, ``order``, ``reason``, ``abstained``, ``grounded`` (whether
            any candidate is), ``rerank`` (:meth:`rows`), ``rerank_knowledge``,
            ``rerank_turn`` and ``rerank_signature``.
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
                'rerank_turn': self.turn,
                'rerank_signature': self.signature,
            }
        )

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> 'Ranking':
        """
        Read back what :meth:`to_dict` returned; of a candidate, only its text is
        required.

        :raises InputError: if it is something else; names the candidate.

        >>> ranking = Ranking((Candidate('Five.'),), 'best score')
        >>> Ranking.from_dict(ranking.to_dict()) == ranking
        True
        """
        signature = text_in(mapping(fields, 'a ranking'), 'rerank_signature', '')
        rows = list_in(fields, 'rerank')
        if not rows or not mapping(rows[0], 'candidate 1').get('chosen'):
            raise InputError("'rerank' must have the candidates, the chosen one first")
        candidates = []
        for number, row in enumerate(rows, start=1):
            try:
                candidates.append(_read_row(mapping(row, 'it'), number, signature))
            except InputError as e:
                raise InputError(f'candidate {number} cannot be read: {e}') from e
        return cls(
            tuple(candidates),
            text_in(rows[0], 'reason', ''),
            bool(fields.get('abstained')),
            passages_of(fields.get('rerank_knowledge') or ''),
            text_in(fields, 'rerank_turn', ''),
        )


def _read_row(row: Mapping[str, Any], number: int, signature: str) -> Candidate:
    score, evidence, answer = None, row.get('evidence'), row.get('answer')
    if row.get('score') is not None:
        score = Score.from_dict({**row, 'signature': signature})
    place = row.get('place', 0 if row.get('first') else number)
    if type(place) is not int:
        raise InputError("'place' must be a whole number")
    return Candidate(
        text_in(row, 'text'),
        strategies=tuple(map(str, list_in(row, 'strategies'))),
        generator_score=_read_number(row, 'generator_score'),
        mean_logprob=_read_number(row, 'mean_logprob'),
        place=place,
        score=score,
        guarded_score=_read_number(row, 'guarded_score'),
        guards=tuple(map(str, list_in(row, 'guards'))),
        relevance=_read_number(row, 'relevance'),
        right_answer=_read_number(row, 'right_answer'),
        agreement=_read_number(row, 'agreement'),
        worth=_read_number(row, 'worth'),
        evidence=None if evidence is None else Score.from_dict(evidence),
        answer=None if answer is None else Claim.from_dict(answer),
    )


def _read_number(row: Mapping[str, Any], name: str) -> float | None:
    value = row.get(name)
    if value is not None and not is_number(value):
        raise InputError(f'{name!r} must be a number')
    return value


def _score_fields(score: Score | None) -> dict[str, Any]:
    if score is None:
        unscored = {'score': None, 'label': None, 'fallback': False}
        return {**unscored, 'claims': [], 'parts': {}}
    # All rows share one signature, which is reported beside them.
    dropped = ('kind', 'signature')
    return {k: v for k, v in score.to_dict().items() if k not in dropped}


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _format_value(value: float | None) -> str:
    return '----' if value is None else f'{value:.2f}'


def _format_notes(candidate: Candidate) -> str:
    """Format the values read with the turn, and the penalties, for the printed form."""
    notes = [f'{name} {value:.2f}' for name, value in candidate.choice_values.items()]
    if round(candidate.penalty, 2):
        notes.append(f'{", ".join(candidate.guards)} {-candidate.penalty:+.2f}')
    return f' ({"; ".join(notes)})' if notes else ''


def _shorten(text: str) -> str:
    return text if len(text) <= PRINTED_WIDTH else f'{text[: PRINTED_WIDTH - 3]}...'
