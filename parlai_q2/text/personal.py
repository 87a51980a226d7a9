"""
The personal filter: drops questions about the speakers, which knowledge cannot answer.

Honovich et al. 2021, section 2: drop a question if its dependency parse has "i" or
"you" as nominal subject, or "my" or "your" as possessive.
"""

import re
from typing import TYPE_CHECKING, Sequence

from parlai_q2.text.pipeline import parse_all

if TYPE_CHECKING:
    from spacy.tokens import Doc

SUBJECTS = frozenset({'i', 'you'})
POSSESSIVES = frozenset({'my', 'your'})

# Only questions with one of these words can be personal, so only those are parsed. The
# parser splits "youre" and "ive" into two words each.
_MAYBE = re.compile(r'\b(?:i(?:m|ma|ve|d|ll)?|you\w*|my)\b', re.IGNORECASE)


def personal(questions: Sequence[str], passive: bool = False) -> list[bool]:
    """
    Which questions are about the speakers.

    :param questions: Q questions.
    :param passive: whether passive subjects count ("Where were you born?").
    :return: Q booleans.
    """
    maybe = list(dict.fromkeys(q for q in questions if _MAYBE.search(q)))
    parsed = zip(maybe, parse_all(maybe, dependencies_only=True), strict=True)
    found = {question for question, doc in parsed if is_personal(doc, passive)}
    return [question in found for question in questions]


def is_personal(doc: 'Doc', passive: bool = False) -> bool:
    """Whether a parsed question is about the speakers."""
    subjects = ('nsubj', 'nsubjpass') if passive else ('nsubj',)
    return any(
        (token.dep_ in subjects and token.lower_ in SUBJECTS)
        or (token.dep_ == 'poss' and token.lower_ in POSSESSIVES)
        for token in doc
    )
