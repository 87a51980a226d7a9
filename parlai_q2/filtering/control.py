"""
Control tokens, which ask a model for a faithful response.

They follow Rashkin et al. 2021, "Increasing Faithfulness in Knowledge-Grounded Dialogue
with Controllable Features" (ACL 2021). In training, the tokens describe the
reference; at inference, they ask for the best values. Here any scorer decides whether
the response is entailed, by its label ``consistent``; and the group of the highest
precision includes its lower bound, so that its token occurs in training despite ties.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from parlai_q2.claims import Label, Score
from parlai_q2.errors import ConfigError
from parlai_q2.text.overlap import token_overlap
from parlai_q2.turns import Example

FIRST_PERSON, NO_FIRST_PERSON = '<first-person>', '<no-first-person>'
LOW, MEDIUM, HIGH = '<low-prec>', '<med-prec>', '<high-prec>'
ENTAILED, NOT_ENTAILED = '<entailed>', '<non-entailed>'

# The tokens that request a faithful response.
BEST = [NO_FIRST_PERSON, HIGH, ENTAILED]

# Neither "i.e." nor "World War I".
_FIRST_PERSON = re.compile(
    r'\b(?:(?<!world war )i(?!\.\s?e\b)|me|my|mine|myself)\b', re.IGNORECASE
)


class PrecisionGroups(NamedTuple):
    """
    The lower bounds of the second and third group of lexical precision, in [0, 1].
    """

    medium: float
    high: float

    def token(self, precision: float) -> str:
        if precision >= self.high:
            return HIGH
        return MEDIUM if precision >= self.medium else LOW


def terciles(precisions: Sequence[float]) -> PrecisionGroups:
    """Split precisions into groups of a third each, as far as ties allow."""
    if not precisions:
        raise ConfigError(
            'No training response has knowledge to compute terciles from.'
        )
    ordered, n = sorted(precisions), len(precisions)
    return PrecisionGroups(ordered[n // 3], ordered[2 * n // 3])


def lexical_precision(example: Example) -> float:
    """The share of a response's words that occur in its knowledge; 0 without words."""
    return token_overlap(example.knowledge_text, example.response).precision


def first_person(response: str) -> bool:
    return bool(_FIRST_PERSON.search(response))


def control_tokens(
    example: Example, score: Score | None, groups: PrecisionGroups
) -> list[str]:
    """
    The tokens that describe a response: its person, precision and entailment. Without
    knowledge, it is neither precise nor entailed.
    """
    entailed = score is not None and score.label == Label.CONSISTENT
    is_grounded = bool(example.knowledge_text.strip())
    return [
        FIRST_PERSON if first_person(example.response) else NO_FIRST_PERSON,
        groups.token(lexical_precision(example)) if is_grounded else LOW,
        ENTAILED if entailed else NOT_ENTAILED,
    ]
