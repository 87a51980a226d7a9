"""
Denials that the knowledge does not make: "We don't have a gym." where no gym is
mentioned, and "There is no parking." where parking is free.

Detectors read both as supported. Knowledge that denies or excludes something may deny a
thing in other words ("cash only" for "no cards"): it is left to the detector.
"""

import re
from functools import lru_cache

from parlai_q2.text.selection import stems
from parlai_q2.text.sentences import sentences

_NOT = r"(?:n['’]t| not)"
_HAS = r'(?:have|has|had|accepts?|offers?|provides?|sells?|serves?)'
_STATE = r'(?:accepted|allowed|available|included|offered|permitted|possible|provided)'
# Up to three words, without what says where or when.
_THING = (
    r'(?:(?!(?:at|by|for|from|here|in|near|of|on|to|today|with)\b)'
    r"[\w'’-]+(?: |\b)){1,3}"
)
# What is denied is the one group of each that matched.
_DENIAL = re.compile(
    rf"\b(?:there (?:is|are|was|were)|there['’]s|{_HAS}) no ({_THING})"
    rf'|\b(?:do|does|did){_NOT} {_HAS} (?:any |an? |the )?({_THING})'
    rf'|\b(?:there (?:is|are)|have|has){_NOT} (?:any|an?) ({_THING})'
    rf'|(?:\A|, )(?:(?:the|our|your) )?({_THING}) ?(?:is|are){_NOT} {_STATE}\b'
    rf"|\b(?:you|we|one) (?:can(?:not|['’]t| not)|may not) ({_THING})",
    re.I,
)
# What every denial has.
_NO = re.compile(r"no|n['’]t", re.I)
# What may be denied of something that is there: "no charge", "no more than two".
_ABOUT = re.compile(
    r'\b(?:answer|better|charg(?:e|es|ed)\b|choice|cost|deposit|difference|doubt|extra|fee|fewer|free\b'
    r'|i (?:can|do|have)|idea|info|less\b|limit|longer|matter|more|need|other|pay|pric'
    r'|problem|reason|such|wait|way|worr)\w*',
    re.I,
)
# Knowledge with one of these denies or excludes something.
_EXCLUDES = re.compile(
    r'\b(?:no|not|none|never|nothing|nobody|neither|nor|cannot|without|only|just|alone'
    r'|except\w*|exclu\w+|unless|but|instead|forb\w+|prohibit\w*|ban|banned|refus\w+'
    r'|lack\w*|closed|stop\w*|limited|must|have to|had to|vegan|vegetarian|silent'
    r"|\w+less|\w+-free|unable|unavailable|unlimited)\b|n['’]t\b",
    re.I,
)
_FREE = re.compile(r'\b(?:is|are) free\b', re.I)
_OFTEN_SAID = stems(
    'accept allow allowed available have included include offer permitted possible'
    ' provide sell serve unfortunately sorry afraid currently yes'
)


@lru_cache(maxsize=64)
def _denies_nothing(knowledge: str) -> bool:
    return _EXCLUDES.search(knowledge) is None


def denies_unmentioned(knowledge: str, statement: str) -> bool:
    """
    Whether a statement denies something that the knowledge, which denies nothing, does
    not mention, or only says to be free.

    >>> denies_unmentioned('Parking is free.', 'There is no parking.')
    True
    >>> denies_unmentioned('Parking is free.', 'There is no parking fee.')
    False
    """
    denial = _DENIAL.search(statement) if _NO.search(statement) else None
    if denial is None or _ABOUT.search(statement) or not _denies_nothing(knowledge):
        return False
    content = {stem for stem in stems(statement) - _OFTEN_SAID if stem.isalpha()}
    if content and content.isdisjoint(stems(knowledge)):
        return _FREE.search(knowledge) is None
    thing = stems(' '.join(filter(None, denial.groups()))) - _OFTEN_SAID
    return bool(thing) and any(
        thing <= stems(sentence.text[: free.start()])
        for sentence in sentences(knowledge)
        if (free := _FREE.search(sentence.text))
    )
