"""
What Q2 asks about: the informative spans of a response. What it leaves out: questions
about the speakers, vague ones, and clauses that claim nothing to check.

Honovich et al. 2021, section 2: all named entities, then all noun chunks whose text is
not yet in the list, ignoring case; "i" is dropped. An entity that occurs twice is asked
about twice, as in the released code. A question is personal, and dropped, if its parse
has "i" or "you" as nominal subject, or "my" or "your" as possessive.

Further filters depart from the paper. One drops pronouns ("What is relaxing?") and what
is equal after normalisation. A question can be vague: apart from words of its
answer, it shares no content word with the response ("What is it?"). And question
generators write "the author" for "I", which no filter of pronouns finds; so clauses
about the speaker are recognised in the response itself: "I love cats." claims nothing
that knowledge could support, "I think cats love fish." does.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from parlai_q2.text.normalize import content_words, normalize
from parlai_q2.text.pipeline import parse_all
from parlai_q2.turns import Span

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

DROPPED = 'i'

_PRONOUNS = frozenset(
    'he her hers herself him himself his i it its itself me mine myself ours ourselves'
    ' she their theirs them themselves they us we you yours yourself yourselves'.split()
)
_WORD = re.compile(r"[a-z']+|\d")
SUBJECTS = frozenset({'i', 'you'})
# Those that the parser calls possessive; "yours" stands for a noun.
POSSESSIVES = frozenset({'my', 'your'})
# Only questions with one of these words can be personal, so only those are parsed. The
# parser splits "youre" and "ive" into two words each.
_MAYBE = re.compile(r'\b(?:i(?:m|ma|ve|d|ll)?|you\w*|my)\b', re.IGNORECASE)
# What question generators call who says "I".
_SPEAKER = re.compile(r'\b(?:author|narrator|speaker|writer)\b', re.IGNORECASE)
_SUBJECT_LABELS = ('nsubj', 'nsubjpass')
# Words that questions consist of, in addition to stop words.
QUESTION_NOUNS = frozenset(
    'kind name people person sort thing things type word'.split()
)


def informative_spans(responses: Sequence[str]) -> list[list[Span]]:
    """The informative spans of each of B responses: entities, then noun chunks."""
    return [read_spans(doc) for doc in parse_all(responses)]


def read_spans(doc: 'Doc') -> list[Span]:
    """The informative spans of one parsed response."""
    spans = [Span(e.text, e.start_char, e.end_char) for e in doc.ents]
    texts = {s.text.lower() for s in spans}
    for chunk in doc.noun_chunks:
        if chunk.text.lower() not in texts:
            texts.add(chunk.text.lower())
            spans.append(Span(chunk.text, chunk.start_char, chunk.end_char))
    return [s for s in spans if s.text.strip() and s.text.lower() != DROPPED]


def filter_spans(spans: Sequence[Span]) -> list[Span]:
    """
    The spans of one response, in order, without those that consist of pronouns alone or
    normalise to no text or to that of an earlier one.
    """
    distinct: dict[str, Span] = {}
    for span in spans:
        words, normal = _WORD.findall(span.text.lower()), normalize(span.text)
        if normal and not (words and _PRONOUNS.issuperset(words)):
            distinct.setdefault(normal, span)
    return list(distinct.values())


def personal(questions: Sequence[str]) -> list[bool]:
    """
    Which of Q questions are about the speakers. As in the released code, a passive
    subject ("Where were you born?") does not count.
    """
    maybe = list(dict.fromkeys(q for q in questions if _MAYBE.search(q)))
    parsed = zip(maybe, parse_all(maybe, dependencies_only=True), strict=True)
    personal_questions = {question for question, doc in parsed if _is_personal(doc)}
    return [question in personal_questions for question in questions]


def _is_personal(doc: 'Doc') -> bool:
    return any(
        (token.dep_ == 'nsubj' and token.lower_ in SUBJECTS)
        or (token.dep_ == 'poss' and token.lower_ in POSSESSIVES)
        for token in doc
    )


def names_speaker(question: str, response: str) -> bool:
    """Whether a question is about an author or the like whom its response lacks."""
    return bool(_SPEAKER.search(question)) and not _SPEAKER.search(response)


def drop_personal(
    responses: Sequence[str], spans: Sequence[Sequence[Span]]
) -> list[list[Span]]:
    """
    Of each response's spans, those that do not lie in a clause about a speaker: its
    subject is "I" or someone's or something's of "mine", or "you" in a question.
    """
    parsed = zip(_parse_personal(responses), spans, strict=True)
    return [
        [span for span in of_response if not _is_about_speaker(doc, span)]
        for doc, of_response in parsed
    ]


def only_personal(responses: Sequence[str]) -> list[bool]:
    """Which of B responses have clauses about a speaker, and no others."""
    are_personal = []
    for doc in _parse_personal(responses):
        subjects = [t for t in doc or () if t.dep_ in _SUBJECT_LABELS]
        are_personal.append(bool(subjects) and all(map(_is_speaker, subjects)))
    return are_personal


def _parse_personal(responses: Sequence[str]) -> list['Doc | None']:
    """The parses of responses that may be personal; None for the others."""
    maybe = [response for response in responses if _MAYBE.search(response)]
    parsed = iter(parse_all(maybe, dependencies_only=True))
    return [next(parsed) if _MAYBE.search(response) else None for response in responses]


def _is_about_speaker(doc: 'Doc | None', span: Span) -> bool:
    inside = doc and doc.char_span(span.start, span.end, alignment_mode='expand')
    if not inside:
        return False
    token = inside.root
    while True:
        subjects = [child for child in token.children if child.dep_ in _SUBJECT_LABELS]
        if subjects:
            return _is_speaker(subjects[0])
        if token.head == token:
            return False
        token = token.head


def _is_speaker(subject: 'Token') -> bool:
    owners = [t.lower_ for t in subject.children if t.dep_ == 'poss']
    if subject.lower_ == 'i' or 'my' in owners:
        return True
    asks = subject.sent.text.rstrip().endswith('?')
    return asks and (subject.lower_ == 'you' or 'your' in owners)


def vague(question: str, response: str, answer: str) -> bool:
    """Whether a question, without its answer, has lost the response's content."""
    return not (_content(question) & _content(response)) - _content(answer)


@lru_cache(maxsize=4096)
def _content(text: str) -> frozenset[str]:
    return frozenset(content_words(text.lower())) - QUESTION_NOUNS
