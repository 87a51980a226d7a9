"""
Recognises questions that check nothing.

Honovich et al. 2021, section 2: a question is personal, and dropped, if its dependency
parse has "i" or "you" as nominal subject, or "my" or "your" as possessive. Departing
from the paper, one can also be vague: apart from words of its answer, it shares no
content word with the response, as "What is it?".
"""

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Sequence

from parlai_q2.text.normalize import content_words
from parlai_q2.text.pipeline import parse_all

if TYPE_CHECKING:
    from spacy.tokens import Doc

SUBJECTS = frozenset({'i', 'you'})
# Those that the parser calls possessive; "yours" stands for a noun.
POSSESSIVES = frozenset({'my', 'your'})
# Only questions with one of these words can be personal, so only those are parsed. The
# parser splits "youre" and "ive" into two words each.
_MAYBE = re.compile(r'\b(?:i(?:m|ma|ve|d|ll)?|you\w*|my)\b', re.IGNORECASE)
# Words that questions consist of, in addition to stop words.
QUESTION_NOUNS = frozenset(
    'kind name people person sort thing things type word'.split()
)


def personal(questions: Sequence[str], passive: bool = False) -> list[bool]:
    """
    Which of Q questions are about the speakers.

    :param passive: whether passive subjects count ("Where were you born?").
    """
    maybe = list(dict.fromkeys(q for q in questions if _MAYBE.search(q)))
    parsed = zip(maybe, parse_all(maybe, dependencies_only=True), strict=True)
    found = {question for question, doc in parsed if _is_personal(doc, passive)}
    return [question in found for question in questions]


def _is_personal(doc: 'Doc', passive: bool) -> bool:
    subjects = ('nsubj', 'nsubjpass') if passive else ('nsubj',)
    return any(
        (token.dep_ in subjects and token.lower_ in SUBJECTS)
        or (token.dep_ == 'poss' and token.lower_ in POSSESSIVES)
        for token in doc
    )


def vague(question: str, response: str, answer: str) -> bool:
    """Whether a question, without its answer, has lost the response's content."""
    return not (_content(question) & _content(response)) - _content(answer)


@lru_cache(maxsize=4096)
def _content(text: str) -> frozenset[str]:
    return frozenset(content_words(text.lower())) - QUESTION_NOUNS
