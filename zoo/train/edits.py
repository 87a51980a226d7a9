"""
Entities and phrases of a parsed text, and how to replace or remove them.

The builders of training rows share this module. An edit must leave no doubt about the
label of the row it makes. An entity is therefore replaced only by one of the same kind
and shape whose words are not in the text, and a phrase is removed only as a whole.
"""

import random
import re
from typing import TYPE_CHECKING, Iterable, Optional, Sequence

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

# The kind of question that each spaCy entity label answers.
PEOPLE, PLACE, TIME, NUMBER = 'people', 'place', 'time', 'number'
GROUPS = {
    **dict.fromkeys(('PERSON', 'NORP', 'ORG'), PEOPLE),
    **dict.fromkeys(('GPE', 'LOC', 'FAC'), PLACE),
    **dict.fromkeys(('DATE', 'TIME'), TIME),
    **dict.fromkeys(('CARDINAL', 'QUANTITY', 'MONEY', 'PERCENT', 'ORDINAL'), NUMBER),
}
# The words of a question that asks for an entity of a group.
ASKS = {
    PEOPLE: r'who|whom|whose|(?:what|which)(?: \w+)? (?:person|man|woman|actor|author|'
    r'company|organi[sz]ation|group|team|band|church|university)',
    PLACE: r'where|(?:what|which)(?: \w+)? (?:place|city|town|country|state|region|'
    r'island|location|area|continent|province|county)',
    TIME: r'when|how long|how old|(?:what|which)(?: \w+)? (?:year|date|day|month|time|'
    r'century|decade|era|period)',
    NUMBER: r'how (?:many|much|often|far|tall|large|big|high)|(?:what|which)(?: \w+)? '
    r'(?:percentage|percent|number|amount|cost|price|share)',
}
# Phrases that a sentence can lose and still be a sentence.
REMOVABLE = ('prep', 'agent', 'npadvmod', 'appos', 'relcl', 'acl')
LEAST_LEFT = 5  # words of a text that something was taken out of
_WORD = re.compile(r'\w+')
_NUMBER_WORD = re.compile(
    r'\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|'
    r'thirty|forty|fifty|hundred|thousand|million|billion|first|second|third|once|'
    r'twice|dozen|half)\b',
    re.IGNORECASE,
)
# They begin answers to "where" that are not names: "in a small village".
_PLACE_PREPOSITIONS = frozenset('in at on near from to into within around'.split())


def words(text: str) -> set[str]:
    """
    The words of a text in lower case.
    """
    return set(_WORD.findall(text.lower()))


def shape(text: str) -> str:
    """
    A text's pattern: digits become 9, words become a, A or AA, articles stay.

    >>> shape('the 1980s'), shape('May 5, 1903'), shape('USA')
    ('the 9999s', 'A 9, 9999', 'AA')
    """
    text = re.sub(r'\d', '9', text)
    text = re.sub(r'\b(?!(?:the|a|an)\b)[a-z]{2,}\b', 'a', text)
    text = re.sub(r'\b[A-Z][a-z]+\b', 'A', text)
    return re.sub(r'\b[A-Z]{2,}\b', 'AA', text)


class EntityPool:
    """
    Entities by label and shape, which can replace others.

    :param docs: the parsed texts that the entities come from.
    """

    def __init__(self, docs: Iterable['Doc']):
        self._by_kind: dict[tuple[str, str], dict[str, None]] = {}
        for doc in docs:
            for entity in doc.ents:
                kind = (entity.label_, shape(entity.text))
                self._by_kind.setdefault(kind, {})[entity.text] = None

    def another(
        self, text: str, label: str, avoid: set[str], rng: random.Random
    ) -> Optional[str]:
        """
        An entity of the same label and shape.

        :param text: the entity to be replaced.
        :param label: its label.
        :param avoid: words that it must not have, in lower case; articles are exempt.
        :param rng: decides which one.
        :return: the entity; None where there is none.
        """
        avoid = avoid - {'the', 'a', 'an', 'of', 'and'}
        known = self._by_kind.get((label, shape(text)), {})
        fitting = [other for other in known if not words(other) & avoid]
        return rng.choice(fitting) if fitting else None


def entity_at(doc: 'Doc', start: int, text: str) -> Optional['Span']:
    """
    The entity at a character offset whose text is exactly this one, apart from a
    leading article.
    """
    for entity in doc.ents:
        article = re.match(r'(?:the|an?) ', entity.text, re.IGNORECASE)
        starts = (
            entity.start_char,
            entity.start_char + (article.end() if article else 0),
        )
        if entity.end_char == start + len(text) and start in starts:
            return entity
    return None


def without(doc: 'Doc', start: int, end: int) -> Optional[tuple[str, 'Token']]:
    """
    Remove the smallest removable phrase that holds the given characters.

    :param doc: the parsed text.
    :param start: offset of the first character that must go.
    :param end: offset after the last one.
    :return: the remaining text and the phrase's head; None where no phrase of
        :data:`REMOVABLE` holds the characters, or too little would remain.
    """
    found: Optional[tuple[int, int, Token]] = None
    for token in doc:
        if token.dep_ not in REMOVABLE:
            continue
        first, last = token.left_edge, token.right_edge
        if sum(1 for _ in token.subtree) != last.i - first.i + 1:
            continue
        a, b = first.idx, last.idx + len(last)
        if a <= start and end <= b and (found is None or b - a < found[1] - found[0]):
            found = (a, b, token)
    if found is None:
        return None
    a, b, head = found
    before, after = doc.text[:a].rstrip(), doc.text[b:].lstrip()
    if before.endswith(',') and after.startswith((',', '.')):
        before = before[:-1].rstrip()
    if not before or (after and not (after[0].isalpha() or after[0] in ',.;')):
        return None  # not a sentence's beginning, nor what stands in brackets
    left = before + ('' if after.startswith((',', '.', ';')) else ' ') + after
    enough = len(left.split()) >= max(LEAST_LEFT, len(doc.text.split()) / 2)
    return (left.strip(), head) if enough else None


def could_answer(doc: 'Doc', left: str, group: str, gone: 'Token') -> bool:
    """
    Whether the rest of a text may still hold an answer of a kind.

    :param doc: the whole text, parsed.
    :param left: the text without a phrase.
    :param group: the kind, a value of :data:`GROUPS`.
    :param gone: the phrase's head.
    :return: True where the rest has an entity of that kind, a number word if a number
        is asked for, or another phrase that begins like the removed one. For people,
        who need no name, always True unless the removed phrase is a passive's "by"
        phrase.
    """
    if group == PEOPLE and gone.dep_ != 'agent':
        return True  # "the group" may mean those whom the removed name named
    if any(
        GROUPS.get(entity.label_) == group and entity.text in left
        for entity in doc.ents
    ):
        return True
    if group in (TIME, NUMBER) and _NUMBER_WORD.search(left):
        return True
    prepositions = _PLACE_PREPOSITIONS if group == PLACE else frozenset()
    subtree = {token.i for token in gone.subtree}
    return any(
        token.dep_ in ('prep', 'agent')
        and (token.lower_ == gone.lower_ or token.lower_ in prepositions)
        for token in doc
        if token.i not in subtree
    )


def asks_for(question: str, group: str) -> bool:
    """
    Whether a question's own words ask for an entity of a group.

    >>> asks_for('In what year did he die?', TIME), asks_for('What died?', PEOPLE)
    (True, False)
    """
    return re.search(rf'\b(?:{ASKS[group]})\b', question, re.IGNORECASE) is not None


def occurs_once(text: str, part: str) -> bool:
    """
    Whether a part occurs in a text once, and none of its words occur anywhere else.
    """
    rest = re.sub(re.escape(part), ' ', text, count=1, flags=re.IGNORECASE)
    return len(rest) != len(text) and not (words(part) - {'the', 'a', 'an'}) & words(
        rest
    )


def chosen(rng: random.Random, items: Sequence, most: int) -> list:
    """
    Up to ``most`` of the items, in random order.
    """
    return rng.sample(list(items), min(most, len(items)))
