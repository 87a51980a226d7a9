"""
Negates a sentence, or removes its negation: one of Conv-FEVER's perturbations
(Santhanam et al. 2021).

This happens at one of the auxiliaries that the paper lists, after Kryscinski et al.
2020 (arXiv 1910.12840): "not" or "n't" is put after it, or removed. The departures from
their code are:

- a capital letter is accepted only at the beginning of a sentence ("in May 1969");
- an auxiliary before its subject takes "n't" ("Isn't it red?");
- an auxiliary in a question is used only if the text has no other;
- a word that is no auxiliary in its place ("a tin can") is left alone, by rules of
  thumb about its neighbours (:func:`is_auxiliary`).
"""

import random
import re
from typing import NamedTuple

from parlai_q2.text.sentences import sentences

AUXILIARIES = tuple(
    'are is was were have has had do does did can ca could may might must shall should '
    'will would'.split()
)
# In statements, these take only "not" and never "n't", as in Kryscinski et al.
WITHOUT_CONTRACTION = ('may', 'might', 'must', 'shall', 'will')
CONTRACTIONS = {
    **{a: f"{a}n't" for a in AUXILIARIES if a not in ('ca', 'may', 'shall')},
    'can': "can't",
    'will': "won't",
}
# As first words of a sentence these are just as often names.
NAMES = ('may', 'will')
# The words that follow an auxiliary moved before its subject.
SUBJECTS = frozenset('i you he she it we they there'.split())
DETERMINERS = frozenset(
    'this that these those the a an my your his her its our'.split()
)

_CERTAIN = '|'.join(a for a in AUXILIARIES if a != 'ca')
_AUXILIARY = re.compile(
    # "ca" counts only as the first half of "can't".
    rf"(?<![\w'’-])(?P<aux>ca(?=\s?n['’]t)|{_CERTAIN})"
    r"(?P<negation>\s?n['’]t|\s+not|(?<=can)not)?(?![\w'’-])",
    re.IGNORECASE,
)
_NEXT_WORD = re.compile(r"\s+([\w'’]+)")
# Before such words, a second negation would cancel the first.
_NEGATED_LATER = re.compile(
    r'\s+(?:\w+\s+)?(?:no|not|never|none|nothing|nobody|nowhere|'
    r'(?:are|is|was|were|has|have|had|do|does|did|ca|could|should|wo|would)nt)\b',
    re.IGNORECASE,
)
_AFTER_TO = re.compile(r'\bto\s+$', re.IGNORECASE)
_OPENING = '"“‘\'([ '

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
# Words that follow only a main verb, no auxiliary ("has a", "do this", "had two").
OBJECTS = ARTICLES | frozenset(
    'this that these those some any many much more few several enough one two three '
    'four five six seven eight nine ten to'.split()
)
OBJECT_PRONOUNS = frozenset('it them him her me us'.split())
# Words that can follow an auxiliary in the same clause, and are then none themselves.
INFINITIVES = ('have', 'do')
# An auxiliary in the same clause; "didnt" counts as "didn't" here.
_BEHIND_ANOTHER = re.compile(
    r'\b(?:do|does|did|can?|could|may|might|must|shall|should|will|wo|would)'
    r"(?:\s?n['’]?t|not)?\s+"
    r'(?:(?!(?:and|but|or|if|as|than|because|when|while|where|how|what|who|which|that)'
    r"\b)[\w'’-]+\s+)*$",
    re.I,
)
_LAST_WORD = re.compile(r"([\w'’-]+)\s+$")


class Site(NamedTuple):
    """
    An auxiliary, with its negation if it has one, that can be changed; ``inverted`` if
    it stands before its subject, ``question`` if its sentence ends with "?".
    """

    span: tuple[int, int]
    auxiliary: str
    negated: bool
    inverted: bool
    question: bool


class Changed(NamedTuple):
    """A text with one change: words before (``is``) and after (``isn't``)."""

    text: str
    before: str
    after: str


def negate(text: str, draw: random.Random) -> Changed | None:
    """Negate a text at one drawn place, or remove a negation; None if there is none."""
    sites = negation_sites(text)
    if not sites:
        return None
    stated = [s for s in sites if not (s.question or s.inverted)]
    site = draw.choice(stated or sites)
    after = _changed(site, contracted=draw.random() < 0.5)
    start, end = site.span
    return Changed(text[:start] + after + text[end:], text[start:end], after)


def negation_sites(text: str) -> list[Site]:
    """Where :func:`negate` can act; in a chain ("would have been"), at the first."""
    sites: list[Site] = []
    last_end = -1
    for sentence in sentences(text):
        first = sentence.end - len(sentence.text.lstrip(_OPENING))
        question = sentence.text.rstrip('"”’\') ').endswith('?')
        for match in _AUXILIARY.finditer(text, sentence.start, sentence.end):
            chained = last_end >= 0 and text[last_end : match.start()].isspace()
            before = text[sentence.start : match.start()]
            site = _site(text, before, match, match.start() == first, question)
            if site and not chained:
                sites.append(site)
            if site or chained:
                last_end = match.end()
    return sites


def _site(
    text: str, before: str, match: 're.Match[str]', initial: bool, question: bool
) -> Site | None:
    word, negated = match['aux'], match['negation'] is not None
    lower = word.lower()
    behind = _NEXT_WORD.match(text, match.end())
    following = behind[1].lower() if behind else ''
    if word not in (lower, lower.capitalize()) or (word != lower and not initial):
        return None
    if word != lower and lower in NAMES and following not in SUBJECTS | DETERMINERS:
        return None
    if _AFTER_TO.search(before):
        return None
    opens = initial and question
    if not negated and not is_auxiliary(before, lower, text[match.end() :], opens):
        return None
    inverted = following in SUBJECTS or opens
    if not negated and _NEGATED_LATER.match(text, match.end()):
        return None
    if not negated and inverted and lower not in CONTRACTIONS:
        return None
    return Site(match.span(), word, negated, inverted, question)


def _changed(site: Site, contracted: bool) -> str:
    lower = site.auxiliary.lower()
    if site.negated:
        changed = 'can' if lower == 'ca' else lower
    elif site.inverted or (contracted and lower not in WITHOUT_CONTRACTION):
        changed = CONTRACTIONS[lower]
    else:
        changed = 'cannot' if lower == 'can' else f'{lower} not'
    if site.auxiliary[0].isupper():
        return changed[0].upper() + changed[1:]
    return changed


def is_auxiliary(before: str, word: str, after: str, question: bool) -> bool:
    """
    Whether a word, in lower case, is an auxiliary between these parts of its sentence;
    ``question`` says that it opens one ("Did the dog bark?").
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
    match = _NEXT_WORD.match(after)
    following = match[1].lower() if match else ''
    if following in OBJECTS or _DIGIT.match(after):
        return True
    if word in INFINITIVES and _BEHIND_ANOTHER.search(before):
        return True
    return following in OBJECT_PRONOUNS and _last_word(before) in PRONOUNS


def _last_word(text: str) -> str:
    match = _LAST_WORD.search(text)
    return match[1].lower() if match else ''
