"""
What scorers find about a response: its score, and the evidence for it. All types are
immutable; ``to_dict`` gives JSON-safe values, which ``from_dict`` reads back.
"""

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Mapping, NamedTuple, Optional

from parlai_q2.turns import Span

# The value of a response with nothing to verify, as the paper scores a neutral
# end-to-end NLI verdict (section 2).
NOT_VERIFIABLE_VALUE = 0.5


class Word(str, Enum):
    """One of a closed set of words: equal to its text, printed and stored as it."""

    __str__ = str.__str__
    __format__ = str.__format__  # type: ignore[assignment]
    __repr__ = str.__repr__


class Label:
    """
    The labels that a score can give a response.

    ``generic`` is chit-chat ("that's cool!"), without a statement that knowledge could
    support: BEGIN's third class (Dziri et al. 2022, section 3). ``not_verifiable``
    means that the response could not be judged: the knowledge or the response is empty,
    or Q2 found no valid question and NLI is neutral.

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


class Comparison:
    """How the two answers to a question compare (Honovich et al. 2021, section 2)."""

    EXACT = 'exact'  # equal after normalisation
    ENTAILMENT = 'entailment'
    NEUTRAL = 'neutral'
    CONTRADICTION = 'contradiction'
    NO_ANSWER = 'no answer'  # the knowledge does not answer the question
    F1 = 'f1'  # compared by tokens alone: Q2 without NLI


class Evidence(NamedTuple):
    """
    A sentence of the knowledge that a statement rests on, with its offsets in the text
    of its passage, whose index is from 0.
    """

    passage: int
    sentence: Span


@dataclass(frozen=True)
class Statement:
    """
    What a scorer found about one sentence of a response: how well the knowledge
    supports it, in [0, 1], its :class:`Label`, and the few sentences it rests on, the
    main one first; none if the knowledge does not support it.
    """

    span: Span
    score: float
    label: str
    evidence: tuple[Evidence, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The statement as JSON-safe values."""
        return {
            'text': self.span.text,
            'span': [self.span.start, self.span.end],
            'score': self.score,
            'label': self.label,
            'evidence': [
                {
                    'passage': e.passage,
                    'sentence': e.sentence.text,
                    'span': [e.sentence.start, e.sentence.end],
                }
                for e in self.evidence
            ],
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> 'Statement':
        """Read back what :meth:`to_dict` returned."""
        return cls(
            Span(fields['text'], *fields['span']),
            fields['score'],
            fields['label'],
            tuple(
                Evidence(e['passage'], Span(e['sentence'], *e['span']))
                for e in fields['evidence']
            ),
        )


@dataclass(frozen=True)
class Question:
    """A question and its answer, a span of the response."""

    text: str
    answer: Span


@dataclass(frozen=True)
class Verdict:
    """
    The result of one question.

    :param question: the question; empty if a detector marked the words by itself.
    :param response_answer: the span of the response that the question asks for.
    :param knowledge_answer: the span of the knowledge that answers it, or None; its
        offsets are in its passage's text.
    :param comparison: one of the values of :class:`Comparison`.
    :param score: in [0, 1]; 1 means that the knowledge gives the same answer.
    :param f1: token F1 of the two answers, in [0, 1].
    :param passage: the index of the passage that answers it, from 0; None if none does.

    >>> asked, said = 'How many eyes do they have?', Span('three', 10, 15)
    >>> known = Span('five', 10, 14)
    >>> verdict = Verdict(asked, said, known, Comparison.CONTRADICTION, 0.0, 0.0)
    >>> Verdict.from_dict(verdict.to_dict()) == verdict
    True
    """

    question: str
    response_answer: Span
    knowledge_answer: Optional[Span]
    comparison: str
    score: float
    f1: float
    passage: Optional[int] = None

    def __post_init__(self):
        if self.passage is None and self.knowledge_answer is not None:
            object.__setattr__(self, 'passage', 0)

    def to_dict(self) -> dict[str, Any]:
        """
        The verdict as JSON-safe values; spans become text with [start, end] offsets.
        """
        k = self.knowledge_answer
        return {
            'question': self.question,
            'response_answer': self.response_answer.text,
            'response_span': [self.response_answer.start, self.response_answer.end],
            'knowledge_answer': k.text if k else None,
            'knowledge_span': [k.start, k.end] if k else None,
            'passage': self.passage,
            'comparison': self.comparison,
            'score': self.score,
            'f1': self.f1,
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> 'Verdict':
        """Read back what :meth:`to_dict` returned."""
        answer = fields['knowledge_answer']
        return cls(
            question=fields['question'],
            response_answer=Span(fields['response_answer'], *fields['response_span']),
            knowledge_answer=(
                None if answer is None else Span(answer, *fields['knowledge_span'])
            ),
            comparison=fields['comparison'],
            score=fields['score'],
            f1=fields['f1'],
            passage=fields.get('passage'),
        )


@dataclass(frozen=True)
class Score:
    """
    How well its knowledge supports a response.

    :param value: in [0, 1]; 1 means grounded. At most :data:`NOT_VERIFIABLE_VALUE` if
        nothing could be verified.
    :param label: one of the values of :class:`Label`.
    :param verdicts: the evidence, one verdict per question; empty for scorers that ask
        none.
    :param fallback: whether Q2 had no valid question and used the NLI model instead.
    :param parts: other numbers of the scorer by name, each in [0, 1] unless the scorer
        says otherwise.
    :param signature: what you need to reproduce this number.
    :param statements: the sentences of the response, each with what it rests on; empty
        for scorers that do not read sentences.

    >>> score = Score(0.25, Label.INCONSISTENT, parts={'precision': 0.25})
    >>> score.verifiable, Score.from_dict(score.to_dict()) == score
    (True, True)
    """

    value: float
    label: str
    verdicts: tuple[Verdict, ...] = ()
    fallback: bool = False
    parts: Mapping[str, float] = field(default_factory=dict, hash=False)
    signature: str = field(default='', repr=False)
    statements: tuple[Statement, ...] = ()

    @property
    def verifiable(self) -> bool:
        """Whether there was anything to verify."""
        return self.label not in UNVERIFIABLE

    def to_dict(self) -> dict[str, Any]:
        """The score as JSON-safe values, as ``parlai_q2 score`` writes them."""
        return {
            'score': self.value,
            'label': self.label,
            'fallback': self.fallback,
            'verdicts': [v.to_dict() for v in self.verdicts],
            'statements': [s.to_dict() for s in self.statements],
            'parts': dict(self.parts),
            'signature': self.signature,
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> 'Score':
        """Read back what :meth:`to_dict` returned."""
        return cls(
            value=fields['score'],
            label=fields['label'],
            verdicts=tuple(Verdict.from_dict(v) for v in fields['verdicts']),
            fallback=fields['fallback'],
            parts=fields.get('parts', {}),
            signature=fields.get('signature', ''),
            statements=tuple(
                Statement.from_dict(s) for s in fields.get('statements', ())
            ),
        )


def not_verifiable(signature: str = '', **kwargs: Any) -> Score:
    """The score of a response in which there is nothing to verify."""
    return Score(
        NOT_VERIFIABLE_VALUE, Label.NOT_VERIFIABLE, signature=signature, **kwargs
    )


def explained_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """
    A row of a ranking with the evidence that is to be shown: its score's own or, if
    another scorer explained it, that one's.
    """
    found = row.get('evidence')
    if not isinstance(found, Mapping):
        # None, or in files of before a signature, with the evidence already in the row.
        return dict(row)
    own = row.get('statements') or found.get('statements') or []
    return {**row, 'verdicts': found.get('verdicts') or [], 'statements': own}
