"""
Recognises by its words what a turn asks for (a question, yes or no, a way to do
something), and what claims nothing: a reply that declines to answer, an offer of help,
a greeting.
"""

import re

from parlai_q2.text.overlap import rouge_words

_AUXILIARIES = frozenset(
    'is are was were do does did can could may might shall should will would has have '
    'am must'.split()
)
_QUESTION_WORDS = _AUXILIARIES | frozenset(
    'what which who whom whose when where why how'.split()
)
# Requests are answered like questions.
_REQUEST = re.compile(
    r'\W*(please\s+)?(tell|explain|describe|give|show|list|name|summari[sz]e)\b', re.I
)
_HOW_OR_WHY = re.compile(
    r'\W*(why|how\s+(do|does|did|can|could|should|would|to|is|are)\b)'
)
# A longer reply says more than that it has no answer.
MAX_DECLINE_WORDS = 20
_WORD = re.compile(r"[a-z']+")
_SENTENCE_END = re.compile(r'[.!?]\s')

# What a reply cannot do when it has no answer: "I do not know", "it doesn't mention".
_NEGATION = r"(?:n\s?['’]?\s?t|not|cannot|unable\s+to|not\s+able\s+to)"
_KNOWING = (
    r'(?:know|sure|certain|say|said|tell|told|find|mention(?:ed)?|stated?|specif(?:y|ied)'
    r'|cover|answer|aware|in\s+(?:the|my|this|what)\s+(?:text|notes|information|leaflet)'
    r'|have\s+(?:(?:any|that|the|enough|more)\s+)?(?:information|info|details))'
)
_DECLINES = re.compile(
    rf'{_NEGATION}\s+(?:\w+\s+){{0,2}}?{_KNOWING}\b'
    r'|\bno\s+(?:idea|information|mention|details|word\s+on|clue|explanation)\b'
    r'|\b(?:says?|nothing)\s+(?:nothing|about|on|in\s+here)\b',
    re.I,
)
_OFFERS = re.compile(
    r'(?:can|could|may|shall|should) i (?:help|assist)\b[^.!?,]{0,60}\?'
    r'|(?:is there|do you need) (?:anything|something) (?:else|more)\b[^.!?,]{0,60}\?'
    r'|(?:please )?(?:let me know|feel free to ask|just ask)\b[^.!?\d]{0,80}[.!]'
    r'|(?:i hope (?:this|that) helps|how (?:can|may) i help(?: you)?)\b[^.\d]{0,40}',
    re.I,
)
# Greetings and exclamations. No yes and no, which answer questions of fact, nor "sure".
_GREETINGS = frozenset(
    (
        'ah aha aw aww awesome bye cheers congrats congratulations cool day evening '
        'excellent fantastic fine good goodbye gosh great ha haha hahaha hello hey hi '
        'hmm hm indeed interesting lol lovely mm mmm morning nice night oh ok okay '
        'omg oops ouch perfect please pleasure phew right sorry super sweet thank '
        'thanks ugh uh uhm um welcome well wonderful wow yay again all and everyone '
        'guys much so there to too very you your'
    ).split()
)


def is_question(text: str) -> bool:
    """
    Whether a turn asks something; small talk does not.

    >>> is_question('How long is the warranty?'), is_question('Thanks, that helps!')
    (True, False)
    """
    if '?' in text:
        return True
    last = re.split(r'[.!]\s', text.strip())[-1]
    first = _WORD.search(last.lower())
    return first is not None and first[0] in _QUESTION_WORDS


def wants_answer(text: str) -> bool:
    """
    Whether a turn is a question or a request for information.

    >>> wants_answer('Tell me about the museum.'), wants_answer('I like museums.')
    (True, False)
    """
    return is_question(text) or _REQUEST.match(text) is not None


def is_yes_no_question(text: str) -> bool:
    """
    Whether a turn ends with a question that may be answered by yes or no.

    >>> is_yes_no_question('Hello. Can I return it?'), is_yes_no_question('How long?')
    (True, False)
    """
    first = _WORD.search(_last_sentence(text).lower())
    return first is not None and first[0] in _AUXILIARIES


def asks_how_or_why(text: str) -> bool:
    """
    Whether a turn ends with a question about how something is done, or why: a passage
    answers it, a short span does not.

    >>> asks_how_or_why('How do I return it?'), asks_how_or_why('How long is it?')
    (True, False)
    """
    return _HOW_OR_WHY.match(_last_sentence(text).lower()) is not None


def is_decline(text: str) -> bool:
    """
    Whether a reply says that it has no answer.

    >>> is_decline("Sorry, I don't know."), is_decline('It has two floors.')
    (True, False)
    """
    return _DECLINES.search(text) is not None


def only_declines(text: str) -> bool:
    """
    Whether a reply says that it has no answer, and claims nothing beside it: it is
    short, and has no number and no "but".

    >>> only_declines("Sorry, I don't know."), only_declines('Not sure, but in 1950.')
    (True, False)
    """
    words = text.lower().split()
    return (
        is_decline(text)
        and len(words) <= MAX_DECLINE_WORDS
        and 'but' not in words
        and not any(character.isdigit() for character in text)
    )


def only_offers(text: str) -> bool:
    """
    Whether a sentence offers help and claims nothing.

    >>> only_offers('Can I help you with anything else?')
    True
    """
    return _OFFERS.fullmatch(text.strip()) is not None


def only_greets(text: str) -> bool:
    """
    Whether a text has words, and all are of greetings and exclamations.

    >>> only_greets('Oh wow, thank you so much!')
    True
    """
    words = rouge_words(text)
    return bool(words) and _GREETINGS.issuperset(words)


def _last_sentence(text: str) -> str:
    sentences = [part for part in _SENTENCE_END.split(text.strip()) if part.strip()]
    return sentences[-1] if sentences else ''
