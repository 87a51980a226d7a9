"""
Changes a sentence so that it says more than its source, or something else.

These are errors that the shipped detector was seen to miss: a hedge lost ("almost
perfect" becomes perfect), one of several things called the only one, roles swapped.
Each function takes a sentence that its source supports and returns one that the source
does not support. It returns None where the change does not apply or the outcome would
be in doubt.
"""

import re
from typing import TYPE_CHECKING, Callable, Optional

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_ONE_OF = re.compile(
    r'\bone of (the (?:most \w+|\w+est|first|best) (?:\w+ )??)(\w+s)\b', re.IGNORECASE
)
_SINGULARS = (
    (r'ies$', 'y'),
    (r'(?<=ch|sh|ss)es$', ''),
    (r'(?<=x)es$', ''),
    (r's$', ''),
)
# Hedges whose loss nobody would accept; the loss of "often" or "about" is accepted.
_HEDGES = re.compile(
    r'\b(?:almost|nearly|partly|partially|possibly|probably|allegedly|reportedly|'
    r'supposedly) ',
    re.IGNORECASE,
)
_SOME = re.compile(
    r'(?<!the )\b(?:some|many|most|several|a few) '
    r'(?=(?:of the )?(?!(?:years|days|times|others|ways|hours|months|weeks|famous|'
    r'various)\b)\w{3,}s\b)',
    re.IGNORECASE,
)
_MAY = re.compile(r'\b(?:may|might|can) (?!have\b|also\b)(?=[a-z]+\b)', re.IGNORECASE)
_SUPERLATIVE = re.compile(
    r'\b(?P<article>an?) (?!most\b)(?P<adjective>popular|famous|important|successful|'
    r'common|influential|expensive|powerful|dangerous|notable|prominent|well-known)\b',
    re.IGNORECASE,
)
# Verbs whose subject and object can change places: "X met Y".
_SYMMETRIC = frozenset(
    'meet met marry married resemble resembled join joined border bordered face faced '
    'equal equals match matched rival become became include includes included '
    'represent represents contain contains be is was mean means'.split()
)
_NEGATION = re.compile(r"\b(?:not|no|never|n't|nor|neither)\b", re.IGNORECASE)


def only_one(text: str) -> Optional[str]:
    """
    Call one of several the only one.

    >>> only_one('It is one of the most popular sports in Asia.')
    'It is the most popular sport in Asia.'
    """
    found = _ONE_OF.search(text)
    if not found:
        return None
    noun = found[2]
    for plural, singular in _SINGULARS:
        if re.search(plural, noun):
            noun = re.sub(plural, singular, noun)
            break
    return text[: found.start()] + found[1] + noun + text[found.end() :]


def without_hedge(text: str) -> Optional[str]:
    """
    Remove a word that makes a statement weaker.

    >>> without_hedge('It is almost perfect.')
    'It is perfect.'
    >>> without_hedge('It is about bees.') is None
    True
    """
    found = _HEDGES.search(text)
    if not found or _NEGATION.search(text):
        return None
    changed = text[: found.start()] + text[found.end() :]
    return changed[:1].upper() + changed[1:] if found.start() == 0 else changed


def everything(text: str) -> Optional[str]:
    """
    Turn some into all, or a possibility into a certainty.

    >>> everything('Many dogs bark.'), everything('Bees can sting.')
    ('All dogs bark.', 'Bees will always sting.')
    """
    if _NEGATION.search(text):
        return None
    for pattern, stronger in ((_SOME, 'all '), (_MAY, 'will always ')):
        found = pattern.search(text)
        if found:
            new = stronger.capitalize() if found.start() == 0 else stronger
            return text[: found.start()] + new + text[found.end() :]
    return None


def superlative(text: str) -> Optional[str]:
    """
    Raise a quality to the highest degree.

    >>> superlative('Tea is a popular drink.')
    'Tea is the most popular drink.'
    """
    found = _SUPERLATIVE.search(text)
    if not found or _NEGATION.search(text):
        return None
    article = 'The' if found['article'][0].isupper() else 'the'
    return (
        text[: found.start()]
        + f'{article} most {found["adjective"]}'
        + text[found.end() :]
    )


def swapped_roles(doc: 'Doc') -> Optional[str]:
    """
    Swap who does something and whom it is done to.

    :param doc: a parsed sentence.
    :return: the changed sentence; None where no transitive verb has nouns as subject
        and object, where one of them is a pronoun, or where the verb works both ways.
    """
    for verb in doc:
        if verb.pos_ != 'VERB' or verb.lower_ in _SYMMETRIC:
            continue
        subject = _phrase(verb, 'nsubj')
        object_ = _phrase(verb, 'dobj')
        if subject is None or object_ is None or subject[1] > object_[0]:
            continue
        (a, b), (c, d) = subject, object_
        text = doc.text
        first, second = text[a:b], text[c:d]
        if first.lower() == second.lower() or a and text[a - 1].isalnum():
            continue
        if a == 0:
            lead = doc.char_span(a, b)
            named = lead is not None and lead[0].pos_ == 'PROPN'
            first = first if named else first[:1].lower() + first[1:]
            second = second[:1].upper() + second[1:]
        return text[:a] + second + text[b:c] + first + text[d:]
    return None


def _phrase(verb: 'Token', role: str) -> Optional[tuple[int, int]]:
    """
    The place of the noun phrase in a role; None if it has a pronoun, a number, a clause
    or a list.
    """
    for token in verb.children:
        if token.dep_ != role:
            continue
        inside = list(token.subtree)
        plain = all(t.dep_ not in ('conj', 'relcl', 'acl', 'appos') for t in inside)
        named = all(t.pos_ not in ('PRON', 'NUM') for t in inside)
        if token.pos_ in ('NOUN', 'PROPN') and plain and named and len(inside) <= 6:
            last = inside[-1]
            return inside[0].idx, last.idx + len(last)
    return None


# The name of each change, its class (1 unsupported, 2 contradicted) and the function.
TEXT_CHANGES: tuple[tuple[str, int, Callable[[str], Optional[str]]], ...] = (
    ('only-one', 1, only_one),
    ('hedge', 1, without_hedge),
    ('all', 1, everything),
    ('superlative', 1, superlative),
)


def keeps_support(text: str, source: str) -> bool:
    """
    Whether all words of a sentence are in its source. Only then is it certain that the
    sentence was supported and that an addition to it is not.

    >>> keeps_support('Bees sting.', 'Many bees sting.'), keeps_support('A', 'B')
    (True, False)
    """
    known = source.lower()
    words = re.findall(r"[\w']+", text.lower())
    return all(re.search(rf'\b{re.escape(word)}\b', known) for word in words)
