"""
Answers small talk in a chat about documents: a greeting, thanks, a farewell, or whether
one is well or can help.

No document says how to reply to "thanks!". A generator that is shown one quotes it, and
one that is shown nothing makes something up, so the reply is one of a few sentences.
English only, like the models that ship.
"""

import re
from functools import lru_cache
from typing import Optional

from parlai_q2.retrieve.chat_words import weight_of
from parlai_q2.retrieve.words import words_of

# What a turn is, by the words that say so, the most telling first; and the reply.
_SAID = tuple(
    (re.compile(rf'\b(?:{said})\b'), reply)
    for said, reply in (
        (
            r"how are (?:you|things)|how(?:'s| is) it going|how do you do|what's up",
            "I'm fine, thank you. What would you like to know?",
        ),
        (
            r'(?:can|could|will) (?:you|someone|anyone) (?:please )?help(?: me)?|'
            r'help me|i need (?:some |your )?help|who are you|what are you|'
            r'what can you do|are you (?:an? )?(?:bot|robot|human|person|machine)|'
            r'i have (?:an?|another|some) questions?|(?:can|may) i ask',
            'I answer questions about the documents that I was given. What would you '
            'like to know?',
        ),
        (r'bye|goodbye|see you|good night|have an? (?:nice|good|great)', 'Goodbye!'),
        (r'thanks|thank you|thank|thx|cheers|appreciate', "You're welcome!"),
        (
            r'hi|hello|hey|good (?:morning|day|afternoon|evening)|greetings',
            'Hello! What would you like to know?',
        ),
        (
            r'ok|okay|cool|great|good|nice|perfect|awesome|excellent|fine|alright|'
            r'sure|yes|yeah|no|nope|i see|got it|understood|helps|wonderful|lovely',
            'Is there anything else you would like to know?',
        ),
    )
)
# What may stand beside that, with words that tell nothing in conversation.
_BESIDE = (
    'again all answer any anyone clear day everybody everyone everything for further '
    'have help helpful information it later me more my please quick question reply '
    'some soon then today tomorrow useful your'
)
LITTLE = 0.3


def courtesy(text: str) -> Optional[str]:
    """
    The reply to a turn that is only small talk; None if it says or asks something.

    >>> courtesy('Thanks a lot!'), courtesy('Thanks. How do I pay?')
    ("You're welcome!", None)
    """
    left, reply = ' '.join(text.lower().replace('’', "'").split()), None
    for pattern, answer in _SAID:
        left, count = pattern.subn(' ', left)
        if count and reply is None:
            reply = answer
    if reply == _SAID[-1][1] and '?' in text:
        return None
    left_over = set(words_of(left)) - _beside()
    return reply if all(weight_of(word) <= LITTLE for word in left_over) else None


@lru_cache(maxsize=1)
def _beside() -> frozenset[str]:
    # Not when this is imported: the package that stems is an extra.
    return frozenset(words_of(_BESIDE))
