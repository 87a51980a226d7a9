"""A scorer that asks questions of a kind without models, and remembers every call."""

from collections.abc import Sequence

from parlai_q2.claims import Claim, Comparison, Evidence, Label, Score, Status
from parlai_q2.scorers.base import Scorer
from parlai_q2.text.overlap import token_overlap
from parlai_q2.turns import Example, Span

NAME = f'{__name__}:RecordingScorer'


class RecordingScorer(Scorer):
    """Asks for each of a response's long words whether the knowledge has it."""

    name = 'q2'
    has_models = asks_questions = True
    settings = {'recording': True}
    made: list['RecordingScorer'] = []

    def __init__(self, **options: object):
        self.calls: list[list[Example]] = []
        self.made.append(self)

    def score(self, examples: Sequence[Example]) -> list[Score]:
        self.calls.append(list(examples))
        return super().score(examples)

    def score_texts(self, examples: Sequence[Example]) -> list[Score]:
        return [self._score(example) for example in examples]

    def _score(self, example: Example) -> Score:
        words = [w for w in example.response.split() if len(w) > 5]
        claims = tuple(self._claim(w, example) for w in words)
        overlap = token_overlap(example.knowledge_text, example.response)
        label = Label.CONSISTENT if overlap.precision > 0.5 else Label.INCONSISTENT
        parts = {'q2_f1': overlap.f1, 'nli': float(overlap.precision > 0.5)}
        return Score(overlap.precision, label, claims, not claims, parts, 'signed')

    def _claim(self, word: str, example: Example) -> Claim:
        start = example.response.index(word)
        is_known = word in example.knowledge_text
        return Claim(
            Span(word, start, start + len(word)),
            float(is_known),
            Status.SUPPORTED if is_known else Status.UNSUPPORTED,
            (Evidence(0, Span(word, 0, len(word))),) if is_known else (),
            question=f'Is it {word}?',
            comparison=Comparison.EXACT if is_known else Comparison.NO_ANSWER,
            f1=float(is_known),
        )
