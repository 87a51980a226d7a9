"""
The library's data types: examples to score, and the scores and evidence that result.

All of them are immutable. ``to_dict`` turns scores and their evidence into JSON-safe
values; ``from_dict`` reads them back.
"""

import re
from dataclasses import dataclass, field
from typing import Any, Iterable, Mapping, NamedTuple, Optional, Sequence

from parlai_q2.errors import InputError

_SURROGATES = re.compile('[\ud800-\udfff]')

# The value of a response that could not be verified or that states nothing to verify:
# neither grounded nor ungrounded. It is the score that the paper gives a neutral
# end-to-end NLI verdict (section 2).
NOT_VERIFIABLE_VALUE = 0.5


class Label:
    """
    The labels that a score can give a response.

    ``generic`` is chit-chat ("that's cool!"): the scorer read the response and found no
    statement that knowledge could support. It is BEGIN's third class (Dziri et al.
    2022, section 3). ``not_verifiable`` means that the response could not be judged:
    the knowledge or the response is empty, or Q2 found no valid question and NLI is
    neutral.

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
    """
    How the two answers to a question compare (Honovich et al. 2021, section 2).
    """

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
    A text with each lone surrogate replaced by U+FFFD. Lone surrogates come from emoji
    that were cut in two; UTF-8 cannot encode them and no model can read them.

    >>> without_surrogates('bees \\ud83d')
    'bees \ufffd'
    """
    if text.isascii():
        return text
    return _SURROGATES.sub('\ufffd', text)


@dataclass(frozen=True)
class Example:
    """
    A response to score against its knowledge.

    :param knowledge: the text that should support the response; may be empty. Lone
        surrogates, which JSON allows but no model can read, are replaced by U+FFFD here
        and in the response; offsets do not change.
    :param response: what the model said; may be empty.
    :param history: the previous turns, oldest first. Scores do not depend on it; it is
        kept for people who read them.
    :param id: any identifier that the caller has for the example.

    >>> Example('Bees have five eyes.', 'Five, I think.', ['How many eyes?']).history
    ('How many eyes?',)
    """

    knowledge: str
    response: str
    history: Sequence[str] = ()
    id: Optional[str] = None

    def __post_init__(self):
        for name in ('knowledge', 'response'):
            value = getattr(self, name)
            if not isinstance(value, str):
                raise InputError(
                    f'Example.{name} must be a string, not {type(value).__name__}. '
                    f'Give {name}="" if there is none.'
                )
            object.__setattr__(self, name, without_surrogates(value))
        turns = self.history
        if isinstance(turns, str):
            raise InputError('Example.history must be a list of turns, not one string.')
        if not isinstance(turns, Iterable) or isinstance(turns, bytes):
            raise InputError(
                'Example.history must be a list of turns, not '
                f'{type(turns).__name__}. Give history=() if there is none.'
            )
        object.__setattr__(self, 'history', tuple(turns))


@dataclass(frozen=True)
class Question:
    """
    A question and its answer, a span of the response.
    """

    text: str
    answer: Span


@dataclass(frozen=True)
class Verdict:
    """
    The result of one question.

    :param question: the question; empty if a detector marked the words by itself.
    :param response_answer: the span of the response that the question asks for.
    :param knowledge_answer: the span of the knowledge that answers it, or None.
    :param comparison: one of the values of :class:`Comparison`.
    :param score: in [0, 1]; 1 means that the knowledge gives the same answer.
    :param f1: token F1 of the two answers, in [0, 1].

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
            'comparison': self.comparison,
            'score': self.score,
            'f1': self.f1,
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> 'Verdict':
        """
        Restore it from the values that :meth:`to_dict` returned.
        """
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
    :param parts: other figures of the scorer by name, each in [0, 1] unless the scorer
        says otherwise.
    :param signature: what you need to reproduce this number.

    >>> score = Score(0.25, Label.INCONSISTENT, parts={'precision': 0.25})
    >>> score.verifiable, Score.from_dict(score.to_dict()) == score
    (True, True)
    """

    value: float
    label: str
    verdicts: tuple[Verdict, ...] = ()
    fallback: bool = False
    parts: Mapping[str, float] = field(default_factory=dict, hash=False)
    signature: str = ''

    @property
    def verifiable(self) -> bool:
        """
        Whether there was anything to verify.
        """
        return self.label not in UNVERIFIABLE

    def to_dict(self) -> dict[str, Any]:
        """
        The score as JSON-safe values, as ``parlai_q2 score`` writes them.
        """
        return {
            'score': self.value,
            'label': self.label,
            'fallback': self.fallback,
            'verdicts': [v.to_dict() for v in self.verdicts],
            'parts': dict(self.parts),
            'signature': self.signature,
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> 'Score':
        """
        Restore it from the values that :meth:`to_dict` returned.
        """
        return cls(
            value=fields['score'],
            label=fields['label'],
            verdicts=tuple(Verdict.from_dict(v) for v in fields['verdicts']),
            fallback=fields['fallback'],
            parts=fields.get('parts', {}),
            signature=fields.get('signature', ''),
        )


def not_verifiable(signature: str = '', **kwargs: Any) -> Score:
    """
    The score of a response in which there is nothing to verify.
    """
    return Score(
        NOT_VERIFIABLE_VALUE, Label.NOT_VERIFIABLE, signature=signature, **kwargs
    )
