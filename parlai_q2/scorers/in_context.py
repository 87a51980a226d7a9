"""
Reads responses with what stands before them.

An answer without a verb ("In 1969.") is read with its question. A third-person pronoun
with which a response begins is read as what it refers to, where that is certain: the
passages' title or, if they have none, the only subject of the turn before.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Optional

from parlai_q2.claims import Score
from parlai_q2.scorers.base import Scorer, StandInScorer
from parlai_q2.signature import Signature
from parlai_q2.text.pipeline import parse_all
from parlai_q2.turns import Example, Span

if TYPE_CHECKING:
    from spacy.tokens import Doc

PRONOUNS = frozenset('he it she they'.split())
SUBJECTS = ('nsubj', 'nsubjpass')


class Edit(NamedTuple):
    """Other words for a part of a response, from ``start`` to ``end``."""

    start: int
    end: int
    words: str

    def read(self, response: str) -> str:
        """The response as it is read."""
        return response[: self.start] + self.words + response[self.end :]

    def written(self, span: Span, response: str) -> Span:
        """A span of what is read, in the response as it was written."""
        behind = self.start + len(self.words)
        longer = behind - self.end
        start = span.start if span.start < self.start else self.start
        start = span.start - longer if span.start >= behind else start
        end = span.end if span.end <= self.start else self.end
        end = span.end - longer if span.end >= behind else end
        return Span(response[start:end], start, end)


UNCHANGED = Edit(0, 0, '')


class InContextScorer(StandInScorer[Scorer]):
    """
    Another scorer, which reads responses with what stands before them. The spans of its
    scores are in the response as it was written.

    >>> from parlai_q2 import Example, load_scorer
    >>> bee = {'title': 'Honeybee', 'text': 'The honeybee has five eyes.'}
    >>> scorer = InContextScorer(load_scorer('precision'))
    >>> [score.value for score in scorer.score([Example([bee], 'It has five eyes.')])]
    [1.0]
    """

    @property
    def settings(self) -> dict[str, Any]:
        return {**self.scorer.settings, 'read_with': 'title,turn'}

    @property
    def signature(self) -> Signature:
        return Signature(self.name, {'threshold': self.threshold, **self.settings})

    def score(self, examples: Iterable[Example]) -> list[Score]:
        examples, signature = list(examples), str(self.signature)
        edits = edits_of(examples)
        scores = self.scorer.score(
            replace(example, response=edit.read(example.response))
            for example, edit in zip(examples, edits, strict=True)
        )
        rows = zip(scores, edits, examples, strict=True)
        return [
            replace(_written(score, edit, example.response), signature=signature)
            for score, edit, example in rows
        ]

    def score_texts(self, examples: Sequence[Example]) -> list[Score]:
        return self.score(examples)


def _written(score: Score, edit: Edit, response: str) -> Score:
    def written(span: Span) -> Span:
        return edit.written(span, response)

    verdicts = (
        replace(v, response_answer=written(v.response_answer)) for v in score.verdicts
    )
    statements = (replace(s, span=written(s.span)) for s in score.statements)
    return replace(
        score,
        # Without those about the words that are only read.
        verdicts=tuple(v for v in verdicts if v.response_answer.text),
        statements=tuple(s for s in statements if s.span.text),
    )


def edits_of(examples: Sequence[Example]) -> list[Edit]:
    """How each response is read."""
    turns = [(example.history or ('',))[-1] for example in examples]
    parsed = parse_all([example.response for example in examples])
    rows = zip(examples, turns, parsed, parse_all(turns), strict=True)
    return [_edit(*row) for row in rows]


def _edit(example: Example, turn: str, response: 'Doc', before: 'Doc') -> Edit:
    question = turn.rstrip()
    verb = any(token.pos_ in ('AUX', 'VERB') for token in response)
    if question.endswith('?') and not verb and example.response.strip():
        # In one sentence with its question.
        return Edit(0, 0, f'{question[:-1].rstrip()}: ')
    first = next(response.noun_chunks, None)
    if first is None or first.root.dep_ not in SUBJECTS:
        return UNCHANGED
    if first.text.lower() not in PRONOUNS:
        return UNCHANGED
    meant = _referent(example, before)
    return Edit(first.start_char, first.end_char, meant) if meant else UNCHANGED


def _referent(example: Example, before: 'Doc') -> Optional[str]:
    titles = {passage.title for passage in example.knowledge}
    if titles != {''}:
        return titles.pop() if len(titles) == 1 else None
    subjects = [c for c in before.noun_chunks if c.root.dep_ in SUBJECTS]
    if len(subjects) == 1 and subjects[0].root.pos_ != 'PRON':
        return subjects[0].text
    return None
