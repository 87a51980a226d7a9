"""
Terms with an opposite that small models take for the same: check-in and check-out.
"""

import re

# Either side of each pair, as a pattern.
_PAIRS = tuple(
    tuple(re.compile(rf'\b(?:{side})\b', re.I) for side in pair)
    for pair in (
        (r'check(?:s|ed|ing)?[ -]{0,3}in', r'check(?:s|ed|ing)?[ -]{0,3}out'),
        (r'arriv(?:al|e|ed|es|ing)', r'depart(?:ed|ing|s|ure)?'),
        (
            r'pick(?:ed|ing)?(?: \w+)?[ -]{0,3}up',
            r'drop(?:ped|ping)?(?: \w+)?[ -]{0,3}off',
        ),
        (r'entrance|entry', 'exit'),
        (r'upload(?:ed|ing|s)?', r'download(?:ed|ing|s)?'),
        (r'deposit(?:ed|ing|s)?', r'withdraw(?:al|als|ing|n|s)?'),
    )
)


_CLAUSE_END = re.compile(r'[.;,!?]\s')
# Clauses with fewer words and no number say nothing.
LEAST_WORDS = 3


def speaks_of_opposite(question: str, reply: str) -> bool:
    """
    Whether a question names one side of a pair of terms, and all that a reply says is
    of the other.

    >>> speaks_of_opposite('When can I check in?', 'Sure! Check-out is until 11 am.')
    True
    >>> speaks_of_opposite('When can I check in?', 'From 3 pm. Check out by 11 am.')
    False
    """
    clauses = [
        clause
        for clause in _CLAUSE_END.split(reply)
        if len(clause.split()) >= LEAST_WORDS or any(map(str.isdigit, clause))
    ]
    for one, other in [*_PAIRS, *(pair[::-1] for pair in _PAIRS)]:
        is_asked = one.search(question) and not other.search(question)
        if is_asked and clauses and not one.search(reply):
            return all(other.search(clause) for clause in clauses)
    return False
