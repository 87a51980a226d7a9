"""What the tests of the cache share: a scorer that counts, and examples."""

from parlai_q2.claims import Claim, Evidence, Label, Score
from parlai_q2.scorers.base import Scorer
from parlai_q2.scorers.shell import make_pair
from parlai_q2.turns import Example, Span

SIGNATURE = 'counting|threshold:0.5'


class CountingScorer(Scorer):
    """The length of a response modulo 10, as tenths; remembers what it was given."""

    name = 'counting'

    def __init__(self, recipe: str = 'a', threshold: float = 0.5):
        self.recipe, self.threshold = recipe, threshold
        self.calls: list[list[str]] = []

    @property
    def settings(self):
        return {'recipe': self.recipe}

    def score_texts(self, examples):
        self.calls.append([e.response for e in examples])
        return [
            score_of(len(e.response) % 10 / 10, str(self.signature)) for e in examples
        ]

    @property
    def scored(self) -> list[str]:
        return [response for call in self.calls for response in call]


def score_of(value: float, signature: str = SIGNATURE) -> Score:
    """A score with everything that a score can have."""
    evidence, wrong = Evidence(0, Span('Bob', 4, 7), 'against'), 'contradiction'
    question_claim = Claim(
        Span('Ann', 0, 3), 0.0, 'contradicted', (evidence,), 'Who?', wrong, 1 / 3
    )
    claims = question_claim, Claim(Span('1969', 5, 9), 0.25, 'unsupported')
    return Score(
        value,
        Label.CONSISTENT if value > 0.5 else Label.INCONSISTENT,
        claims,
        True,
        {'q2_f1': 0.1 + 0.2, 'nli': 0.5},
        signature,
    )


def examples(count: int, start: int = 0) -> list[Example]:
    return [
        Example(f'knowledge {i}', f'response {i} {"x" * (i % 7)}')
        for i in range(start, start + count)
    ]


def scores(count: int, start: int = 0, signature: str = SIGNATURE) -> dict:
    return {make_pair(e): score_of(0.7, signature) for e in examples(count, start)}
