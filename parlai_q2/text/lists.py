"""
Puts what a response lists in the order of its knowledge: "Tuesdays and Mondays" becomes
"Mondays and Tuesdays" if the knowledge says so. Detectors have learned that who did
what to whom depends on the order of words, and take another order for a mistake.
"""

import re
from collections.abc import Iterator
from itertools import permutations

# The most items of a list, and the most words of its first and last one.
MOST_ITEMS, MOST_WORDS = 4, 8
# The most characters of a list before its last item.
LONGEST = 200
# In longer knowledge, nothing is looked for.
MOST_KNOWN = 5000
_JOINT = re.compile(r'(,?) (and|or) ', re.IGNORECASE)
_FIRST_WORDS = re.compile(rf"[\w'’&-]+(?: [\w'’&-]+){{0,{MOST_WORDS - 1}}}")
_LAST_WORDS = re.compile(rf"[\w'’&-]+(?: [\w'’&-]+){{0,{MOST_WORDS - 1}}}$")
_SENTENCE = re.compile(r'[^.!?\n]+')
# Words of sentences whose order matters, perhaps ("boil them and mash them"); quoted
# titles are left alone, too.
_ORDERED = re.compile(
    r'["“”«»]|\b(?:order|respectively|first|second|then|before|after|followed|later|next'
    r'|as|than|called|titled|named|north|south|east|west|turn|top|bottom|left|right|via'
    r'|them|stops?|calls at|passes'
    r'|(?:step|phase|stage|route|sequence|rank)\w*|podium|starting|stack|best|worst'
    r'|(?:old|young|larg|small|high|low|long|short|tall|near|farth|earli|lat|bigg|fast'
    r'|slow)est)\b',
    re.IGNORECASE,
)
# What may follow a list behind a verb, or at the start of a sentence; behind both, a
# verb could have its own subject ("Tom met Sue and Mary left").
_AFTER_OBJECTS = re.compile(
    r'\W*(?:$|[,;:.!?)]|(?:in|on|at|for|to|from|with|by|every|when)\b)'
)
_AFTER_SUBJECTS = re.compile(
    r' (?:is|are|was|were|can|may|must|will|have|had|do|did)\b'
)


def reorder_lists(knowledge: str, response: str) -> str:
    """
    A response with its lists in the order of the knowledge, where that has the same
    items in another order. Sentences with two joints are left alone, since one list may
    be parallel to another.

    >>> reorder_lists('It has cats, dogs and old owls.', 'Old owls, cats and dogs!')
    'cats, dogs and Old owls!'
    """
    if not _JOINT.search(response) or len(knowledge) > MOST_KNOWN:
        return response
    known = knowledge.lower()
    return _SENTENCE.sub(lambda match: _reorder(match[0], known), response)


def _reorder(sentence: str, known: str) -> str:
    joints = list(_JOINT.finditer(sentence))
    if len(joints) != 1 or _ORDERED.search(sentence):
        return sentence
    joint = joints[0]
    for items in _possible_lists(sentence, joint):
        start = joint.start() - len(', '.join(items[:-1]))
        end = joint.end() + len(items[-1])
        if not _is_whole(sentence, start, end, items):
            continue
        order = _find_order(items, known, joint[2].lower())
        if order is not None:
            listed = f'{", ".join(order[:-1])}{joint[0]}{order[-1]}'
            return sentence[:start] + listed + sentence[end:]
    return sentence


def _is_whole(sentence: str, start: int, end: int, items: tuple[str, ...]) -> bool:
    """Whether what stands at a place of a sentence is surely a list, and no clause."""
    if _AFTER_OBJECTS.match(sentence, end):
        return True
    has_names = all(item[0].isupper() for item in items)
    begins = not sentence[:start].strip()
    return begins and (has_names or _AFTER_SUBJECTS.match(sentence, end) is not None)


def _possible_lists(response: str, joint: re.Match[str]) -> Iterator[tuple[str, ...]]:
    """What a response may list about a joint, the longest items first."""
    before = response[max(0, joint.start() - LONGEST) : joint.start()]
    last = _FIRST_WORDS.match(response, joint.end())
    if last is None:
        return
    parts = before.rsplit(', ', MOST_ITEMS - 1)
    for count in range(min(MOST_ITEMS, len(parts) + 1), 1, -1):
        first = _LAST_WORDS.search(parts[1 - count])
        if first is None:
            continue
        middle = parts[len(parts) - count + 2 :]
        first_words, last_words = first[0].split(' '), last[0].split(' ')
        for start in range(len(first_words)):
            for end in range(len(last_words), 0, -1):
                yield (
                    ' '.join(first_words[start:]),
                    *middle,
                    ' '.join(last_words[:end]),
                )


def _find_order(
    items: tuple[str, ...], known: str, conjunction: str
) -> tuple[str, ...] | None:
    """The items in the order of the knowledge; None if that is theirs, or unknown."""
    if not all(item.lower() in known for item in items):
        return None
    orders = permutations(items)
    if _lists(known, next(orders), conjunction):
        return None
    return next((o for o in orders if _lists(known, o, conjunction)), None)


def _lists(known: str, items: tuple[str, ...], conjunction: str) -> bool:
    """Whether the knowledge, in lower case, lists items in this order."""
    start, last = ', '.join(items[:-1]).lower(), items[-1].lower()
    return any(
        re.search(rf'\b{re.escape(text)}\b', known)
        for comma in ('', ',')
        if (text := f'{start}{comma} {conjunction} {last}') in known
    )
