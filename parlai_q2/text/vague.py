"""
Recognises vague questions, which a text about anything could answer.

Every text answers "What is it?". A question is vague if, apart from words of its
answer, it shares no content word with the response, so that it has lost what the
response is about. This departs from Honovich et al. 2021: their questions come from a
model ten times larger and are rarely vague, and the paper keeps all questions that pass
the round trip.
"""

from functools import lru_cache

from parlai_q2.text.content_words import content_words

# Words that questions consist of, in addition to stop words.
QUESTION_NOUNS = frozenset(
    'kind name people person sort thing things type word'.split()
)


def vague(question: str, response: str, answer: str) -> bool:
    """
    Whether a question has lost what the response is about.

    :param question: a question about the response.
    :param response: the whole response.
    :param answer: the span of the response that answers it; its words do not count.
    """
    return not (_content(question) & _content(response)) - _content(answer)


@lru_cache(maxsize=4096)
def _content(text: str) -> frozenset[str]:
    return frozenset(content_words(text.lower())) - QUESTION_NOUNS
