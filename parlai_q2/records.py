"""
The library's immutable data types: examples to score, and the scores and evidence that
result. ``to_dict`` gives JSON-safe values, which ``from_dict`` reads back.
"""

import re
from dataclasses import dataclass, field
from typing import Any, Iterable, Mapping, NamedTuple, Optional, Sequence

from parlai_q2.errors import InputError

_SURROGATES = re.compile('[\ud800-\udfff]')

# The value of a response with nothing to verify, as the paper scores a neutral
# end-to-end NLI verdict (section 2).
NOT_VERIFIABLE_VALUE = 0.5


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


class Span(NamedTuple):
    """
    A piece of a text: ``whole[start:end] == text``.

    >>> whole = 'It opened in 1969.'
    >>> span = Span('1969', 13, 17)
    >>> whole[span.start : span.end] == span.text
    True
    """

    text: str
    start: int
    end: int


def without_surrogates(text: str) -> str:
    """
    Replace lone surrogates, which emoji cut in two leave and UTF-8 cannot encode, by
    U+FFFD.
    """
    if text.isascii():
        return text
    return _SURROGATES.sub('\ufffd', text)


class Passage(NamedTuple):
    """A passage of the knowledge; scorers do not read its title."""

    text: str
    title: str = ''


# Between the passages of one knowledge text.
PASSAGE_END = '\n'


def joined(passages: Iterable[Passage]) -> str:
    """
    Passages as the one text that scorers read.

    >>> joined([Passage('Bees.'), Passage('Ants.', 'Ant')])
    'Bees.\\nAnts.'
    """
    return PASSAGE_END.join(passage.text for passage in passages)


def passages_of(knowledge: Any) -> tuple[Passage, ...]:
    """
    The passages in a value of knowledge.

    :param knowledge: a text, or a list of passages: texts, or mappings with ``text``
        and, optionally, ``title``.
    :raises InputError: if it is something else.

    >>> passages_of([{'title': 'Bee', 'text': 'Bees have five eyes.'}])
    (Passage(text='Bees have five eyes.', title='Bee'),)
    """
    if isinstance(knowledge, str):
        return (Passage(without_surrogates(knowledge)),) if knowledge else ()
    if not isinstance(knowledge, (list, tuple)) or isinstance(knowledge, Passage):
        raise InputError(
            'Example.knowledge must be a string or a list of passages, not '
            f'{type(knowledge).__name__}. Give knowledge="" if there is none.'
        )
    return tuple(_passage(n, one) for n, one in enumerate(knowledge))


def _passage(number: int, value: Any) -> Passage:
    fields = value
    if isinstance(value, Mapping):
        fields = value.get('text'), value.get('title') or ''
    elif isinstance(value, str):
        fields = value, ''
    if (
        not isinstance(fields, tuple)
        or len(fields) != 2
        or not all(isinstance(text, str) for text in fields)
    ):
        raise InputError(
            f'Passage {number} of the knowledge must be a string or have "text" and, '
            f'optionally, "title", both strings; got {str(value)[:40]!r}.'
        )
    return Passage(*map(without_surrogates, fields))


@dataclass(frozen=True)
class Example:
    """
    A response to score against its knowledge.

    :param knowledge: the text that should support the response; may be empty. Or a list
        of passages, see :func:`passages_of`; ``knowledge`` is then their texts, joined
        by line breaks. Lone surrogates, which JSON allows but no model can read, are
        replaced by U+FFFD here and in the response; offsets do not change.
    :param response: what the model said; may be empty.
    :param history: the previous turns, oldest first. Scores do not depend on it; it is
        kept for people who read them.
    :param id: any identifier that the caller has for the example.

    >>> Example('Bees have five eyes.', 'Five, I think.', ['How many eyes?']).history
    ('How many eyes?',)
    """

    # A text, once the example is made.
    knowledge: Any
    response: str
    history: Sequence[str] = ()
    id: Optional[str] = None
    passages: tuple[Passage, ...] = field(default=(), repr=False)

    def __post_init__(self):
        if not isinstance(self.response, str):
            raise InputError(
                'Example.response must be a string, not '
                f'{type(self.response).__name__}. Give response="" if there is none.'
            )
        object.__setattr__(self, 'response', without_surrogates(self.response))
        passages = passages_of(self.knowledge)
        text = joined(passages)
        # A copy by dataclasses.replace has the passages already.
        if isinstance(self.knowledge, str) and joined(self.passages) == text:
            passages = self.passages
        object.__setattr__(self, 'knowledge', text)
        object.__setattr__(self, 'passages', passages)
        turns = self.history
        if isinstance(turns, str):
            raise InputError('Example.history must be a list of turns, not one string.')
        if not isinstance(turns, Iterable) or isinstance(turns, bytes):
            raise InputError(
                'Example.history must be a list of turns, not '
                f'{type(turns).__name__}. Give history=() if there is none.'
            )
        object.__setattr__(self, 'history', tuple(turns))


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
