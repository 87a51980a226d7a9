"""
Decides whether a word that can be an auxiliary is one in its place: "may" is a month
too, "can" a thing, and "have" and "do" can be main verbs, which take no "not".

These are rules of thumb about the neighbouring words. A word wrongly left out costs one
example; a word wrongly let in would give ungrammatical English.
"""

import re

# Nouns and a month, if one of the words below comes before them.
ALSO_NOUNS = frozenset('may might must will can'.split())
ARTICLES = frozenset('a an the my your his her its our their'.split())
PREPOSITIONS = frozenset(
    'about after as at before between by during for from in into of on since than '
    'through till until with'.split()
)
# Adjectives that these nouns occur with ("free will", "late may", "a tin can").
ADJECTIVES = frozenset(
    'no own free good ill iron last next early mid late tin trash garbage'.split()
)
BEFORE_A_NOUN = ARTICLES | PREPOSITIONS | ADJECTIVES
# These follow a noun, and never a modal.
_BEHIND_A_NOUN = re.compile(r'\s+(?:of|is|are|was|were|has|had|does|did)\b', re.I)
_DIGIT = re.compile(r'\s*\d')
_CLAUSE_ENDS = re.compile(r'\s*(?:$|[.,;:!?)"”])')

PRONOUNS = frozenset('i you he she it we they who'.split())

MAIN_VERBS = frozenset('have has had do does did'.split())
# What follows a main verb and never an auxiliary ("has a", "do this", "had two").
OBJECTS = ARTICLES | frozenset(
    'this that these those some any many much more few several enough one two three '
    'four five six seven eight nine ten to'.split()
)
OBJECT_PRONOUNS = frozenset('it them him her me us'.split())
# Can follow an auxiliary in the same clause, and is then not an auxiliary itself.
INFINITIVES = ('have', 'do')
# Such an auxiliary with no new clause since; "didnt" counts as "didn't" here.
_BEHIND_ANOTHER = re.compile(
    r'\b(?:do|does|did|can?|could|may|might|must|shall|should|will|wo|would)'
    r"(?:\s?n['’]?t|not)?\s+"
    r'(?:(?!(?:and|but|or|if|as|than|because|when|while|where|how|what|who|which|that)'
    r"\b)[\w'’-]+\s+)*$",
    re.I,
)
_LAST_WORD = re.compile(r"([\w'’-]+)\s+$")
_NEXT_WORD = re.compile(r"\s+([\w'’]+)")


def is_auxiliary(before: str, word: str, after: str, question: bool) -> bool:
    """
    Whether a word is an auxiliary.

    :param before: the sentence up to the word.
    :param word: the word, in lower case.
    :param after: the text that follows the word.
    :param question: whether the word opens a question ("Did the dog bark?").
    """
    if word in ALSO_NOUNS and _is_noun(before, word, after):
        return False
    return question or word not in MAIN_VERBS or not _is_main_verb(before, word, after)


def _is_noun(before: str, word: str, after: str) -> bool:
    last = _last_word(before)
    if last in BEFORE_A_NOUN or _BEHIND_A_NOUN.match(after):
        return True
    if word == 'may' and _DIGIT.match(after):
        return True
    # "as they can." against "in a soda can."
    return bool(_CLAUSE_ENDS.match(after)) and last not in PRONOUNS


def _is_main_verb(before: str, word: str, after: str) -> bool:
    found = _NEXT_WORD.match(after)
    following = found[1].lower() if found else ''
    if following in OBJECTS or _DIGIT.match(after):
        return True
    if word in INFINITIVES and _BEHIND_ANOTHER.search(before):
        return True
    return following in OBJECT_PRONOUNS and _last_word(before) in PRONOUNS


def _last_word(text: str) -> str:
    found = _LAST_WORD.search(text)
    return found[1].lower() if found else ''
