"""Recognises texts of greetings and exclamations alone."""

from parlai_q2.text.overlap import rouge_words

# No yes and no, which answer questions of fact, nor "sure".
WORDS = frozenset(
    """
    ah aha aw aww awesome bye cheers congrats congratulations cool day evening excellent
    fantastic fine good goodbye gosh great ha haha hahaha hello hey hi hmm hm
    indeed interesting lol lovely mm mmm morning nice night oh ok okay omg oops ouch
    perfect please pleasure phew right sorry super sweet thank thanks ugh uh uhm um
    welcome well wonderful wow yay
    again all and everyone guys much so there to too very you your
    """.split()
)


def only_greets(text: str) -> bool:
    """Whether a text has words, and all are of greetings and exclamations."""
    words = rouge_words(text)
    return bool(words) and WORDS.issuperset(words)
