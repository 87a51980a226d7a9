"""
The score of a response and the evidence for it. All types are immutable. ``to_dict``
returns JSON-safe values, with the words of enums as plain text, and ``from_dict`` reads
them back. Six enums are verdicts:

=============== =================== ========================== =====================
verdict         whose               about                      shown in
=============== =================== ========================== =====================
``Label``       the scorer          a response                 ``label``
``Status``      the scorer          a claim of the response    ``claims``, marks
``Stance``      the scorer          a place in the knowledge   ``evidence``, marks
``Comparison``  Q2                  a question's two answers   ``claims``
``MistakeKind`` rules               an unsupported claim       ``mistake``
``Finding``     models, annotators  a response                 classes, input labels
=============== =================== ========================== =====================

``Finding`` is in :mod:`parlai_q2.text.class_map`; the others are below.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from parlai_q2.errors import InputError
from parlai_q2.json_values import (
    JsonObject,
    list_in,
    mapping,
    number_in,
    numbers_in,
    span_in,
    text_in,
    unit_in,
    word_in,
)
from parlai_q2.options import Word
from parlai_q2.turns import Span

# The value of a response with nothing to verify, as the paper scores a neutral
# end-to-end NLI verdict (section 2).
NOT_VERIFIABLE_VALUE = 0.5
# The name of the part of a score with the probability of a generic response, for
# scorers that recognise one.
GENERIC_PART = 'generic'


class Kind(Word):
    """The kind of record in a line of a file: its field ``kind``."""

    SCORE = 'score'
    RANKING = 'ranking'
    ERROR = 'error'


class Label(Word):
    """
    The labels that a score can give a response.

    ``generic`` is small talk ("that's cool!"), without a statement that knowledge could
    support: BEGIN's third class (Dziri et al. 2022). ``not_verifiable`` means that the
    response could not be judged: the knowledge or the response is empty, or Q2 has no
    valid question and NLI is neutral.

    >>> from parlai_q2 import Example, load_scorer
    >>> (score,) = load_scorer('overlap').score([Example('Bees have five eyes.', '')])
    >>> score.label == Label.NOT_VERIFIABLE
    True
    """

    CONSISTENT = 'consistent'
    INCONSISTENT = 'inconsistent'
    NOT_VERIFIABLE = 'not_verifiable'
    GENERIC = 'generic'


# The labels of responses with nothing to verify.
UNVERIFIABLE = frozenset({Label.NOT_VERIFIABLE, Label.GENERIC})


class Comparison(Word):
    """
    How the two answers to a question compare (Honovich et al. 2021, section 2).

    >>> Comparison.EXACT == 'exact'
    True
    """

    EXACT = 'exact'  # equal after normalisation
    ENTAILMENT = 'entailment'
    NEUTRAL = 'neutral'
    CONTRADICTION = 'contradiction'
    NO_ANSWER = 'no answer'  # the knowledge does not answer the question
    F1 = 'f1'  # compared by tokens alone: Q2 without NLI


class Status(Word):
    """
    The verdict on a claim by the knowledge; ``generic`` claims make no statement.

    >>> Status.SUPPORTED == 'supported'
    True
    """

    SUPPORTED = 'supported'
    UNSUPPORTED = 'unsupported'
    CONTRADICTED = 'contradicted'
    GENERIC = 'generic'


class Stance(Word):
    """
    Whether a place in the knowledge is for or against a claim.

    >>> Stance.AGAINST == 'against'
    True
    """

    FOR = 'for'
    AGAINST = 'against'
    NEITHER = 'neither'


class MistakeKind(Word):
    """
    What is wrong with a claim that the knowledge does not support.

    >>> MistakeKind.NUMBER == 'number'
    True
    """

    NUMBER = 'number'
    NAME = 'name'
    TIME = 'time'  # a date, a length of time or an order
    NEGATION = 'negation'
    COMPARISON = 'comparison'
    ADDITION = 'addition'  # the knowledge has nothing like it
    OTHER = 'other'  # no rule can tell


STANCES = {Status.SUPPORTED: Stance.FOR, Status.CONTRADICTED: Stance.AGAINST}


class Evidence(NamedTuple):
    """
    Words of the knowledge that concern a claim.

    :param passage: the index of their passage, from 0.
    :param span: the words, with offsets in the passage's text.
    :param stance: whether they are for or against it.

    >>> Evidence(0, Span('five', 10, 14)).stance
    'for'
    """

    passage: int
    span: Span
    stance: Stance = Stance.FOR

    def to_dict(self) -> JsonObject:
        """The evidence as JSON-safe values."""
        stance = str(self.stance)
        return {'passage': self.passage, **_span(self.span), 'stance': stance}

    @classmethod
    def from_dict(cls, fields: object) -> 'Evidence':
        """Read back what :meth:`to_dict` returned."""
        fields = mapping(fields, 'evidence')
        passage = fields.get('passage')
        if type(passage) is not int:
            raise InputError(f"'passage' must be a whole number and is {passage!r}")
        stance = (
            word_in(fields, 'stance', Stance) if 'stance' in fields else Stance.NEITHER
        )
        return cls(passage, span_in(fields), stance)


class Mistake(NamedTuple):
    """
    What is wrong with a claim.

    :param span: the wrong words, with offsets in the response.
    :param reference: the words of the knowledge instead; None if there are none, or no
        rule can tell.

    >>> reference = Evidence(0, Span('42 km', 6, 11), Stance.AGAINST)
    >>> mistake = Mistake(MistakeKind.NUMBER, Span('42 miles', 7, 15), reference)
    >>> print(mistake)
    number (reply: 42 miles; passage: 42 km)
    >>> Mistake.from_dict(mistake.to_dict()) == mistake
    True
    """

    kind: MistakeKind
    span: Span
    reference: Evidence | None = None

    def __str__(self) -> str:
        if self.kind == MistakeKind.ADDITION:
            return f'{self.kind} (not in the passage)'
        if self.reference is None:
            return self.kind
        reference = self.reference.span.text
        return f'{self.kind} (reply: {self.span.text}; passage: {reference})'

    def to_dict(self) -> JsonObject:
        """The mistake as JSON-safe values."""
        reference = self.reference.to_dict() if self.reference else None
        return {'kind': str(self.kind), **_span(self.span), 'reference': reference}

    @classmethod
    def from_dict(cls, fields: object) -> 'Mistake':
        """Read back what :meth:`to_dict` returned."""
        fields = mapping(fields, 'a mistake')
        kind = word_in(fields, 'kind', MistakeKind)
        reference = fields.get('reference')
        return cls(
            kind,
            span_in(fields),
            None if reference is None else Evidence.from_dict(reference),
        )


@dataclass(frozen=True)
class Claim:
    """
    A claim of a response, with the verdict and evidence of the knowledge.

    :param span: its words, with offsets in the response. If there is a question, they
        are the answer in the response.
    :param support: in [0, 1]; 1 means full support by the knowledge.
    :param status: the verdict, in one word.
    :param evidence: the places in the knowledge that concern it, the main one first. If
        there is a question, the answer in the knowledge.
    :param question: the question about its words; empty if there is none.
    :param comparison: how the two answers compare; None without a question.
    :param f1: token F1 of the two answers, in [0, 1]; None without a question.
    :param mistake: what is wrong with it; None if it is supported, generic or about a
        question.

    >>> known = Evidence(0, Span('five', 10, 14), Stance.AGAINST)
    >>> claim = Claim(Span('three', 10, 15), 0.0, Status.CONTRADICTED, (known,))
    >>> Claim.from_dict(claim.to_dict()) == claim
    True
    """

    span: Span
    support: float
    status: Status
    evidence: tuple[Evidence, ...] = ()
    question: str = ''
    comparison: Comparison | None = None
    f1: float | None = None
    mistake: Mistake | None = None

    @property
    def answer(self) -> Evidence | None:
        """The answer in the knowledge, if the claim has a question and an answer."""
        return self.evidence[0] if self.question and self.evidence else None

    def to_dict(self) -> JsonObject:
        """The claim as JSON-safe values; spans are texts with [start, end] offsets."""
        fields = {
            **_span(self.span),
            'support': self.support,
            'status': str(self.status),
            'evidence': [evidence.to_dict() for evidence in self.evidence],
        }
        if self.mistake:
            fields['mistake'] = self.mistake.to_dict()
        if self.question:
            fields['question'] = self.question
            fields['comparison'] = self.comparison and str(self.comparison)
            fields['f1'] = self.f1
        return fields

    @classmethod
    def from_dict(cls, fields: object) -> 'Claim':
        """
        Read back what :meth:`to_dict` returned.

        :raises InputError: if it is something else; names the field.
        """
        fields = mapping(fields, 'a claim')
        question = text_in(fields, 'question', '')
        mistake = fields.get('mistake')
        return cls(
            span=span_in(fields),
            support=unit_in(fields, 'support'),
            status=word_in(fields, 'status', Status),
            evidence=tuple(map(Evidence.from_dict, list_in(fields, 'evidence'))),
            question=question,
            comparison=word_in(fields, 'comparison', Comparison) if question else None,
            f1=unit_in(fields, 'f1') if question else None,
            mistake=None if mistake is None else Mistake.from_dict(mistake),
        )


def _as_supported(claim: Claim) -> Claim:
    if claim.question or claim.status == Status.GENERIC:
        return claim
    evidence = tuple(
        sentence for sentence in claim.evidence if sentence.stance != Stance.AGAINST
    )
    return replace(claim, status=Status.SUPPORTED, evidence=evidence, mistake=None)


def _span(span: Span) -> JsonObject:
    return {'text': span.text, 'span': [span.start, span.end]}


@dataclass(frozen=True)
class Score:
    """
    How well its knowledge supports a response.

    :param value: in [0, 1]; 1 means grounded. At most :data:`NOT_VERIFIABLE_VALUE` if
        nothing could be verified.
    :param label: the verdict, one of :class:`Label`; files of other programs may have
        other words.
    :param claims: the claims of the response with their evidence, one for each
        question, each sentence or each unsupported piece, depending on the scorer.
        Empty for scorers that compare whole texts.
    :param fallback: whether Q2 had no valid question and used the NLI model instead.
    :param parts: other numbers of the scorer by name, usually in [0, 1].
    :param signature: what you need to reproduce this number.

    >>> score = Score(0.25, Label.INCONSISTENT, parts={'precision': 0.25})
    >>> score.verifiable, Score.from_dict(score.to_dict()) == score
    (True, True)
    """

    value: float
    label: str
    claims: tuple[Claim, ...] = ()
    fallback: bool = False
    parts: Mapping[str, float] = field(default_factory=dict, hash=False)
    signature: str = field(default='', repr=False)

    @property
    def verifiable(self) -> bool:
        """Whether there was anything to verify."""
        return self.label not in UNVERIFIABLE

    @property
    def question_claims(self) -> tuple[Claim, ...]:
        """The claims with a question."""
        return tuple(claim for claim in self.claims if claim.question)

    @property
    def as_judged(self) -> 'Score':
        """
        The score with evidence that agrees with its label. If the response is
        inconsistent but all of its claims are supported, the least supported claim
        becomes unsupported. A response can be wrong as a whole though each part is
        right, and the evidence may come from another scorer.

        >>> right = Claim(Span('Five.', 0, 5), 0.9, Status.SUPPORTED)
        >>> Score(0.2, Label.INCONSISTENT, (right,)).as_judged.claims[0].status
        'unsupported'
        """
        statements = [claim for claim in self.claims if claim.status != Status.GENERIC]
        if (
            self.label != Label.INCONSISTENT
            or not self.claims
            or any(claim.status != Status.SUPPORTED for claim in statements)
        ):
            return self
        least_supported = min(
            statements or self.claims, key=lambda claim: claim.support
        )
        wrong = replace(
            least_supported,
            support=min(least_supported.support, self.value),
            status=Status.UNSUPPORTED,
            evidence=least_supported.evidence if least_supported.question else (),
            mistake=None
            if least_supported.question
            else Mistake(MistakeKind.OTHER, least_supported.span),
        )
        claims = (wrong if claim is least_supported else claim for claim in self.claims)
        return replace(self, claims=tuple(claims))

    @property
    def as_labelled(self) -> 'Score':
        """
        As :attr:`as_judged`; and if the response is consistent, its claims without a
        question become supported, because fitted weights and thresholds decide what
        the support of a claim means.
        """
        if self.label != Label.CONSISTENT:
            return self.as_judged
        return replace(self, claims=tuple(map(_as_supported, self.claims)))

    @property
    def marks(self) -> tuple[Claim, ...]:
        """
        The claims that mark words in a text: those with questions, which concern few
        words each, or all claims if there are no questions.
        """
        return self.question_claims or self.claims

    def to_dict(self) -> JsonObject:
        """The score as JSON-safe values, as ``parlai_q2 score`` writes them."""
        return {
            'kind': str(Kind.SCORE),
            'score': self.value,
            'label': str(self.label),
            'fallback': self.fallback,
            'claims': [claim.to_dict() for claim in self.claims],
            'parts': dict(self.parts),
            'signature': self.signature,
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, object]) -> 'Score':
        """
        Read back what :meth:`to_dict` returned; of the fields, only ``score`` and
        ``label`` must be there.

        :raises InputError: if one has another type; names it.
        """
        claims = []
        for place, claim_fields in enumerate(
            list_in(mapping(fields, 'a score'), 'claims'), 1
        ):
            try:
                claims.append(Claim.from_dict(claim_fields))
            except InputError as e:
                raise InputError(f'claim {place} cannot be read: {e}') from e
        return cls(
            value=number_in(fields, 'score'),
            label=text_in(fields, 'label'),
            claims=tuple(claims),
            fallback=bool(fields.get('fallback')),
            parts=numbers_in(fields, 'parts'),
            signature=text_in(fields, 'signature', ''),
        )


def not_verifiable(signature: str = '', **kwargs: Any) -> Score:
    """The score of a response in which there is nothing to verify."""
    return Score(
        NOT_VERIFIABLE_VALUE, Label.NOT_VERIFIABLE, signature=signature, **kwargs
    )
