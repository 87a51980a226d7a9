"""
What numbers and names belong to: "92 % in 2007" where the knowledge has 92 % for 2009,
"700 m long" where 700 m is the climb, "Maria is a carpenter" where Paul is one, "the
rate of change of mass" where it is that of velocity, the owner of R-11 for R-12's, the
telephone number of another desk.

Detectors often read these as supported, since every word is in the knowledge. Each rule
was kept because it found no right response of the development sets; the alignment of
numbers and names with their heads in a dependency parse found as many right ones as
wrong ones, and was not (docs/research.md).
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple

from parlai_q2.text.addresses import (
    find_contacts,
    is_same_address,
    kind_of_address,
    without_addresses,
)
from parlai_q2.text.agreement import index_amounts, measured
from parlai_q2.text.amounts import CLOCK, UNITS, Amount, find_amounts, is_year
from parlai_q2.text.field_claims import misplaces_amount
from parlai_q2.text.fields import has_other_record
from parlai_q2.text.selection import FUNCTION_WORDS, stems
from parlai_q2.text.sentences import sentences

# Words that are copied from the start of a sentence before another one follows.
LEAST_COPIED = 4
# The most names and sentences of the knowledge that are compared with one claim.
MOST_COMPARED = 20
_CLAUSE_END = re.compile(r'[;.!?]\s+|,?\s+(?:but|while|whereas)\s+')
_MONTH = r'(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?'
# That a time begins, or that it ends.
_END_OF_TIME = re.compile(
    r'\b(?:(began|begun|begins?|beginning|started|starts?|since|became|founded|joined)'
    r'|(ended|ends?|until|till|left|leaves?|stopped|finished|died|resigned|retired))\b',
    re.I,
)
# "Every hour", without a number.
_EVERY = re.compile(r'\bevery (hour|day|week|month|year)\b', re.I)
_SAME_PERIOD = {
    'hour': 'hourly|every 60 minutes',
    'day': 'daily|every 24 hours',
    'week': 'weekly|every 7 days',
    'month': 'monthly',
    'year': 'yearly|annual|annually|every 12 months',
}
# The stems of words that stand beside any address.
_CONTACT = stems(
    'address call contact dial email mail number online page phone please reach ring '
    'see site telephone text visit website write'
)
_MONTH_BEFORE = re.compile(rf'\b{_MONTH} $', re.I)
_MONTH_AFTER = re.compile(rf'(?:st|nd|rd|th)? (?:of )?{_MONTH}', re.I)
_WORD = re.compile(r"[\w'-]+")
_NAME = r'(?<!\w)[A-Z]\w{1,30}(?: [A-Z]\w{1,30}){0,3}'
_STOP = r'(?=[,.;:!?)]| (?:who|which|and|but|with|in|of|at|on|from|for|to)\b|$)'
_WORDS = r'(?:an?|the) (?P<words>[a-z][a-z -]{0,60}?)' + _STOP
_DESCRIBED = re.compile(rf'(?P<name>{_NAME})(?:,| is| was) {_WORDS}')
_IS = re.compile(
    r'(?<!\w)(?P<name>\w{1,30}(?: \w{1,30})?) (?:is|was|works as|worked as) ' + _WORDS,
    re.IGNORECASE,
)
# What every such clause has, in lower case.
_COPULA = re.compile(r' (?:is|was|as) (?:a|the)')
_ARTICLES = frozenset('a an the its his her their'.split())
_PREPOSITIONS = frozenset('as at by for from in into of on than to with'.split())


def binds_otherwise(knowledge: str, response: str) -> bool:
    """Whether a response gives a number or a name what the knowledge gives another."""
    return (
        _has_other_attribute(knowledge, response)
        or _has_other_year(knowledge, response)
        or _has_other_end(knowledge, response)
        or _has_other_period(knowledge, response)
        or _has_other_address(knowledge, response)
        or _has_other_name(knowledge, response)
        or _has_other_ending(knowledge, response)
        or has_other_record(knowledge, response)
        or misplaces_amount(knowledge, response)
    )


def _has_other_attribute(knowledge: str, response: str) -> bool:
    """Whether what a response calls long is another amount of the knowledge."""
    claims = [
        claim
        for claim in find_amounts(response)
        if claim.attribute and claim.dimension != CLOCK
    ]
    if not claims:
        return False
    index = index_amounts(knowledge)
    for claim in claims:
        matches = index.matches(claim)
        if (
            matches
            and (claim.dimension, measured(claim)) in index.attributes
            and not any(measured(match) == measured(claim) for match in matches)
        ):
            return True
    return False


def _has_other_end(knowledge: str, response: str) -> bool:
    """Whether a response ends in the first year of a range, or begins in its last."""
    known = find_amounts(knowledge)
    ranges = [amount for amount in known if amount.is_years]
    if not ranges:
        return False
    others = {amount.value for amount in known if not amount.is_years}
    for claim in find_amounts(response):
        ends = [(r.value, r.top) for r in ranges if claim.value in (r.value, r.top)]
        if not ends or claim.high is not None or claim.value in others:
            continue
        if cues := _END_OF_TIME.findall(response[: claim.start]):
            begins, _ = cues[-1]
            if all(claim.value == (last if begins else first) for first, last in ends):
                return True
    return False


def _has_other_year(knowledge: str, response: str) -> bool:
    """Whether an amount of a year is that of another year in the knowledge."""
    if len(find_amounts(response)) < 2:
        return False
    claims = [c for c in read_clauses(response) if len(c.years) == 1 and c.amounts]
    if not claims:
        return False
    years_at: dict[int, frozenset[float]] = {}
    dimensions: dict[float, set[str]] = defaultdict(set)
    for clause in read_clauses(knowledge):
        years_at |= {amount.start: clause.years for amount in clause.amounts}
        for year in clause.years:
            dimensions[year] |= {amount.dimension for amount in clause.amounts}
    index = index_amounts(knowledge)
    for claim in claims:
        (year,) = claim.years
        for amount in claim.amounts:
            # Another amount must be that of the year.
            if amount.dimension not in dimensions[year]:
                continue
            years = [years_at.get(match.start) for match in index.matches(amount)]
            if years and all(of_match and year not in of_match for of_match in years):
                return True
    return False


def _has_other_period(knowledge: str, response: str) -> bool:
    """Whether a response says "every hour" of what happens every half hour."""
    if 'every ' not in response.lower():
        return False
    units = {match[1].lower() for match in _EVERY.finditer(response)}
    sizes = {
        amount.size
        for amount in find_amounts(knowledge)
        if amount.dimension == 'time'
        and knowledge[max(0, amount.start - 6) : amount.start].lower() == 'every '
    }
    for unit in units:
        same = rf'\b(?:(?:every|each|an?|per) {unit}|{_SAME_PERIOD[unit]})\b'
        if UNITS[unit][1] in sizes and not re.search(same, knowledge, re.I):
            return True
    return False


def _has_other_address(knowledge: str, response: str) -> bool:
    """
    Whether a response gives an address or a telephone number for what the knowledge has
    another one for: its sentence shares words with that of the other alone.
    """
    claims = _read_contacts(response)
    contacts = _read_contacts(knowledge) if claims else ()
    for claim in claims:
        alike = [contact for contact in contacts if contact.kind == claim.kind]
        own = [c for c in alike if is_same_address(c.address, claim.address)]
        is_beside_own = not own or any(claim.words & c.words for c in own)
        if not is_beside_own and any(claim.words & c.words for c in alike):
            return True
    return False


class Contact(NamedTuple):
    """
    An address or a telephone number, and the stems of the words beside it: in its
    sentence, and in those before it that have none ("Ada Lim heads it. Her number is").
    """

    kind: str
    address: str
    words: frozenset[str]


@lru_cache(maxsize=64)
def _read_contacts(text: str) -> tuple[Contact, ...]:
    if not find_contacts(text):
        return ()
    contacts: list[Contact] = []
    words: frozenset[str] = frozenset()
    for sentence in sentences(text):
        beside = stems(without_addresses(sentence.text)) - _CONTACT
        words |= {stem for stem in beside if stem.isalpha()}
        addresses = find_contacts(sentence.text)
        contacts += [Contact(kind_of_address(a), a, words) for a in addresses]
        if addresses:
            words = frozenset()
    return tuple(contacts)


class Clause(NamedTuple):
    """The years and the other amounts of a clause."""

    years: frozenset[float]
    amounts: tuple[Amount, ...]


@lru_cache(maxsize=64)
def read_clauses(text: str) -> tuple[Clause, ...]:
    """The clauses of a text that have amounts."""
    amounts = find_amounts(text)
    starts = [match.end() for match in _CLAUSE_END.finditer(text)] if amounts else []
    clauses: list[Clause] = []
    position = 0
    for end in [*starts, len(text) + 1]:
        inside: list[Amount] = []
        while position < len(amounts) and amounts[position].start < end:
            inside.append(amounts[position])
            position += 1
        clauses += [_make_clause(text, part) for part in _cut_at_years(text, inside)]
    return tuple(clauses)


def _cut_at_years(text: str, amounts: Sequence[Amount]) -> list[list[Amount]]:
    """
    The amounts of a clause, cut behind each of several years or, if it begins with a
    year, before them: "from 3 in 1990 to 5 in 2000", "in 1990 3 and in 2000 5".
    """
    are_years = [is_year(text, amount) for amount in amounts]
    if sum(are_years) < 2:
        return [[*amounts]] if amounts else []
    parts: list[list[Amount]] = [[]]
    for amount, is_cut in zip(amounts, are_years, strict=True):
        if is_cut and are_years[0] and parts[-1]:
            parts.append([])
        parts[-1].append(amount)
        if is_cut and not are_years[0]:
            parts.append([])
    return [part for part in parts if part]


def _make_clause(text: str, amounts: Sequence[Amount]) -> Clause:
    years = [amount for amount in amounts if is_year(text, amount)]
    measures = tuple(a for a in amounts if a not in years and not _is_day(text, a))
    return Clause(frozenset(year.value for year in years), measures)


def _is_day(text: str, amount: Amount) -> bool:
    """Whether a number is a day of a month."""
    before, after = (
        text[max(0, amount.start - 12) : amount.start],
        text[amount.end :][:8],
    )
    return not amount.dimension and bool(
        _MONTH_BEFORE.search(before) or _MONTH_AFTER.match(after)
    )


def _has_other_name(knowledge: str, response: str) -> bool:
    """Whether a name is said to be what the knowledge calls another name."""
    if response.isascii() and not _COPULA.search(response.lower()):
        return False
    claims = list(_IS.finditer(response))
    if not claims:
        return False
    names = _index_names(knowledge)
    for claim in claims:
        name, nouns = claim['name'].lower(), set(claim['words'].lower().split())
        words = names.words.get(name) or names.words.get(name.split()[-1])
        if words and not nouns & words.keys() and names.has_other(nouns):
            return True
    return False


class _Names:
    """The names of a text, and the words that describe them."""

    def __init__(self, text: str):
        self.words: dict[str, Counter[str]] = defaultdict(Counter)
        self._names: dict[str, list[str]] = defaultdict(list)
        for match in _DESCRIBED.finditer(text):
            name, words = match['name'].lower(), match['words'].split()
            self.words[name].update(words)
            for word in words:
                self._names[word].append(name)
        self._counts = Counter(_WORD.findall(text.lower()))

    def has_other(self, nouns: Iterable[str]) -> bool:
        """Whether the text says some nouns of one name and nowhere else."""
        nouns = sorted(nouns)
        return any(
            all(self._counts[noun] == self.words[name][noun] for noun in nouns)
            for name in self._names.get(nouns[0], ())[:MOST_COMPARED]
        )


# The names of a text, found once for several responses.
_index_names = lru_cache(maxsize=64)(_Names)


def _has_other_ending(knowledge: str, response: str) -> bool:
    """
    Whether a sentence begins as one of the knowledge and goes on, after a preposition,
    with a word of another sentence.
    """
    lowered = knowledge.lower()
    for claim in _split_words(response):
        head = claim[:LEAST_COPIED]
        if not all(word in lowered for word in head):
            continue
        alike = _read_heads(knowledge).get(head, ())
        # The sentence that is copied is the one with the longest beginning.
        end = max((_shared_length(claim, words) for words in alike), default=0)
        if end < LEAST_COPIED:
            continue
        last = claim[end - 1] if claim[end - 1] not in _ARTICLES else claim[end - 2]
        ending = _next_noun(claim, end)
        if last not in _PREPOSITIONS or ending not in _read_vocabulary(knowledge):
            continue
        copied = [words for words in alike if _shared_length(claim, words) == end]
        if any(ending not in words and _next_noun(words, end) for words in copied):
            return True
    return False


def _split_words(text: str) -> list[tuple[str, ...]]:
    return [tuple(_WORD.findall(s.text.lower())) for s in sentences(text)]


@lru_cache(maxsize=64)
def _read_heads(text: str) -> Mapping[tuple[str, ...], Sequence[tuple[str, ...]]]:
    """Sentences of a text by their first words."""
    heads: dict[tuple[str, ...], list[tuple[str, ...]]] = defaultdict(list)
    for words in _split_words(text):
        if len(heads[words[:LEAST_COPIED]]) < MOST_COMPARED:
            heads[words[:LEAST_COPIED]].append(words)
    return dict(heads)


@lru_cache(maxsize=64)
def _read_vocabulary(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


def _shared_length(first: Sequence[str], second: Sequence[str]) -> int:
    """How many words two sentences begin with alike."""
    pairs = zip(first, second, strict=False)
    return len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))


def _next_noun(words: Sequence[str], place: int) -> str:
    """The word at a place, behind an article; empty if it is short or has digits."""
    following = [word for word in words[place : place + 2] if word not in _ARTICLES]
    word = following[0] if following else ''
    return word if word.isalpha() and word not in FUNCTION_WORDS else ''
