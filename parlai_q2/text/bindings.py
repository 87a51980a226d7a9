"""
What years and records have: "92 % in 2007" where the knowledge has 92 % for 2009, the
owner of R-12 given for R-11, the earlier price for the later one.

Detectors often read these as supported, since every word is in the knowledge. Other
such rules found no mistake in 21,000 labelled replies, or as many right replies as
wrong ones, and were not kept.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from parlai_q2.text.agreement import index_amounts
from parlai_q2.text.amounts import Amount, find_amounts, is_year
from parlai_q2.text.field_claims import misplaces_amount
from parlai_q2.text.fields import has_other_record

_CLAUSE_END = re.compile(r'[;.!?]\s+|,?\s+(?:but|while|whereas)\s+')
_MONTH = r'(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?'
_MONTH_BEFORE = re.compile(rf'\b{_MONTH} $', re.I)
_MONTH_AFTER = re.compile(rf'(?:st|nd|rd|th)? (?:of )?{_MONTH}', re.I)


def binds_otherwise(knowledge: str, response: str) -> bool:
    """Whether a response says of a year or record what is known of another."""
    return (
        _has_other_year(knowledge, response)
        or has_other_record(knowledge, response)
        or misplaces_amount(knowledge, response)
    )


def _has_other_year(knowledge: str, response: str) -> bool:
    """Whether an amount of a year is that of another year in the knowledge."""
    if len(find_amounts(response)) < 2:
        return False
    stated = [c for c in read_clauses(response) if len(c.years) == 1 and c.amounts]
    if not stated:
        return False
    years_at: dict[int, frozenset[float]] = {}
    dimensions: dict[float, set[str]] = defaultdict(set)
    for clause in read_clauses(knowledge):
        years_at |= {amount.start: clause.years for amount in clause.amounts}
        for year in clause.years:
            dimensions[year] |= {amount.dimension for amount in clause.amounts}
    index = index_amounts(knowledge)
    for clause in stated:
        (year,) = clause.years
        for amount in clause.amounts:
            # Another amount must be that of the year.
            if amount.dimension not in dimensions[year]:
                continue
            years = [years_at.get(match.start) for match in index.matches(amount)]
            if years and all(of_match and year not in of_match for of_match in years):
                return True
    return False


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
