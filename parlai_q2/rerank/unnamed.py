"""
Finds replies that leave what they are about to the turn before them. Such words occur
in a passage that is about something else, so a scorer, which does not read the turn,
supports them.

A statement about "it" or "them" is heard as about what was talked of. It is likely to
be right where the passage, too, says "it", or what the passage names was talked of; and
likely to be wrong where the reply left a name out that nobody said. A short answer
("apparently in 1251.") is right only where the passage answers the question.
"""

from typing import Optional

from parlai_q2.rerank.guards import Guard
from parlai_q2.rerank.names import name_for
from parlai_q2.rerank.subjects import Subject, has_pronoun
from parlai_q2.retrieve.answers import wants_yes_or_no
from parlai_q2.text.normalize import tokens
from parlai_q2.turns import Example

# What "it" stands for is looked for in so many turns: a question, and what it is about.
TURNS = 2


def guard_of(subject: str, example: Example) -> Optional[Guard]:
    """
    The guard of a reply that leaves what it is about to its turn.

    :param subject: the reply's :class:`Subject`.
    """
    if subject == Subject.PRONOUN:
        if has_pronoun(example.knowledge_text):
            return Guard.PRONOUN
        return None if _was_named(example) else Guard.UNNAMED
    if subject == Subject.NONE and not wants_yes_or_no(example.text):
        return Guard.UNNAMED
    return None


def _was_named(example: Example) -> bool:
    """Whether all words of the name that a reply leaves out were said just before."""
    name = name_for(example.response, example.knowledge)
    said = set(tokens(' '.join(example.history[-TURNS:])))
    return name is not None and said.issuperset(tokens(name))
