"""
Binds the amounts of a response to the fields of records.

"You spent $22.31 on eating out over 2 transactions, down from $94.00" is cut into three
claims with one amount each. The amount tells which field a claim is of, and the words
around it tell which field it should be of. "Down from $22.31" says that the amount is
the earlier one. If the record has it as the later one, the claim is wrong.

A detector reads one claim beside one field better than a sentence beside a record. A
claim with no other words than those of its field needs no detector.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from parlai_q2.text.agreement import index_amounts
from parlai_q2.text.amounts import Amount, find_amounts, scan_amounts
from parlai_q2.text.fields import (
    LIMIT,
    NEUTRAL,
    SPAN,
    TIME,
    Field,
    FieldWords,
    RecordFields,
    as_words,
    index_fields,
    read_near,
    read_words,
)
from parlai_q2.text.records import has_records

# More amounts are a list, which the detector reads as it is.
MOST_CLAIMS = 12
_DENIES = re.compile(
    r"\b(?:not|no|never|without|except|unlike|hardly|neither|nor|cannot)\b|n't\b",
    re.IGNORECASE,
)
# Where a claim may end between two amounts, the best first.
_BREAK = re.compile(r'[,;:(]\s|\s(?=(?:and|but|while|whereas|or)\s)')
_PREPOSITION = re.compile(
    r'\s(?=(?:compared (?:to|with)|instead of|rather than|(?:down|up) from|after|'
    r'against|at|by|for|from|in|on|over|since|to|until|versus|with)\s)'
)
# Words right before an amount, and between two.
_ROUGH = re.compile(r'\b(?:about|around|almost|nearly|only|just) $')
_FROM = re.compile(r'\bfrom $')
_TO = re.compile(r'\bto $')
_EARLIER = re.compile(
    r'\b(?:after|against|versus|vs\.?|instead of|rather than|compared (?:with|to)) $'
)
_PART_OF = re.compile(r'(?: out)? of (?:(?:the|its|all|my|your|their|these|those) )?')
_DOWN = re.compile(
    r'\b(?:down|fall(?:s|en)?|fell|drop\w*|decreas\w*|reduc\w*|lower\w*|declin\w*)\b'
)
_UP = re.compile(r'\b(?:up(?! to)|rise\w*|rose|grew|grow\w*|increas\w*|rais\w*)\b')


class FieldClaim(NamedTuple):
    """
    A piece of a response that states one amount of a record.

    :param text: the piece.
    :param sentence: the sentence that the knowledge states the amount in.
    :param is_copy: whether the piece has only words of the field, so that the sentence
        says the same.
    """

    text: str
    sentence: str
    is_copy: bool


class _Piece(NamedTuple):
    """
    A piece of a response with one amount.

    :param words: its words, without those of the amount.
    :param near: the stems of those next to the amount.
    :param hints: roles that the words before the amount hint at, by axis.
    :param is_shared: whether its words are of another amount, too.
    :param fields: those that have the amount.
    """

    text: str
    amount: Amount
    words: FieldWords
    near: frozenset[str]
    hints: dict[int, int]
    is_shared: bool
    fields: tuple[Field, ...]


def misplaces_amount(knowledge: str, response: str) -> bool:
    """
    Whether a response states an amount of one field of a record as that of another, or
    calls a fall a rise.

    >>> record = 'The old price is 120 euros.\\nThe new price is 89 euros.'
    >>> misplaces_amount(record, 'It fell from 89 euros to 120 euros.')
    True
    """
    if not has_records(knowledge) or _DENIES.search(response):
        return False
    return _is_misplaced(index_fields(knowledge), _cut(knowledge, response))


def read_field_claims(knowledge: str, response: str) -> list[FieldClaim]:
    """
    The claims that a sentence makes about a record, one for each of its amounts.

    :return: empty if the knowledge is not records or lacks one of the amounts, if an
        amount is that of another field, or if the sentence cannot be cut.
    """
    if not has_records(knowledge) or _DENIES.search(response):
        return []
    pieces = _cut(knowledge, response)
    if not pieces or not all(piece.fields for piece in pieces):
        return []
    records = index_fields(knowledge)
    if _is_misplaced(records, pieces):
        return []
    claims: list[FieldClaim] = []
    for n, piece in enumerate(pieces):
        others = pieces[:n] + pieces[n + 1 :]
        copied = [f for f in piece.fields if _is_copy(records, piece, f, others)]
        if not copied and not piece.words.stems:
            return []  # "4 of the"
        field = (copied or piece.fields)[0]
        claims.append(FieldClaim(piece.text, field.sentence, bool(copied)))
    return claims if len(claims) > 1 or claims[0].is_copy else []


@lru_cache(maxsize=64)
def _cut(knowledge: str, response: str) -> tuple[_Piece, ...]:
    """The pieces of a response with one amount each; none if it has too many."""
    records = index_fields(knowledge)
    amounts = [
        (amount, end)
        for amount, end in _find_amounts(knowledge, response)
        if not _is_of_name(records, response, amount)
    ]
    if not amounts or len(amounts) > MOST_CLAIMS:
        return ()
    names = records.find_names(as_words(response))
    pieces: list[_Piece] = []
    start, last_lead = 0, ''
    for n, (amount, end_of_range) in enumerate(amounts):
        following = amounts[n + 1][0] if n + 1 < len(amounts) else None
        end = _find_cut(response, amount, following) if following else len(response)
        lead = _ROUGH.sub('', response[: amount.start].lower())
        hints = _read_hints(lead, last_lead)
        if end_of_range is not None:
            hints |= {LIMIT: end_of_range, SPAN: end_of_range}
        before, after = response[start : amount.start], response[amount.end : end]
        # "From 3,900" is no bound if a field has 3,900.
        exact = amount._replace(bound=0)
        fields = records.matches(exact) or records.matches(amount)
        piece = _Piece(
            text=response[start:end].strip(' ,;:('),
            amount=amount,
            words=read_words(f'{before} {after}'),
            near=read_near(before, after),
            hints=hints,
            is_shared=SPAN in hints or _is_part(response, amounts, n),
            fields=tuple(f for f in fields if not names or f.name in names),
        )
        pieces.append(piece)
        start, last_lead = end, lead
    return tuple(pieces)


def _find_amounts(knowledge: str, response: str) -> Iterator[tuple[Amount, int | None]]:
    """
    The amounts of a response. A range that the knowledge has not is two: the ends, 0
    and 1.
    """
    index = index_amounts(knowledge)
    all_ends = list(scan_amounts(response))
    for amount in find_amounts(response):
        ends = [e for e in all_ends if amount.start <= e.start < amount.end]
        if amount.high is None or index.has(amount) or len(ends) != 2:
            yield amount, None
        else:
            yield ends[0], 0
            yield ends[1], 1


def _is_of_name(records: RecordFields, response: str, amount: Amount) -> bool:
    """Whether a number is a part of a record's name: "phase 2", "loan 5520"."""
    before = as_words(response[: amount.start])[-1:]
    number = as_words(response[amount.start : amount.end])
    return len(number) == 1 and any(
        pair == (*before, *number)
        for name in records.by_name
        for pair in pairwise(as_words(name))
    )


def _is_part(
    response: str, amounts: Sequence[tuple[Amount, int | None]], n: int
) -> bool:
    """Whether "of" joins an amount with the one before or behind it: "4 of 6 items"."""
    around = [amount for amount, _ in amounts[max(0, n - 1) : n + 2]]
    return any(
        _PART_OF.fullmatch(response[first.end : second.start].lower())
        for first, second in pairwise(around)
    )


def _find_cut(response: str, amount: Amount, following: Amount) -> int:
    """
    Where a claim ends between two amounts: at the last comma or conjunction, or before
    the last preposition, or at the next amount.
    """
    end, start = amount.end, following.qualified_start
    # "Over 2" is cut before "over".
    patterns = (_BREAK, _PREPOSITION) if start == following.start else (_BREAK,)
    for pattern in patterns:
        if cuts := list(pattern.finditer(response[end:start])):
            return end + cuts[-1].start()
    return start


def _read_hints(lead: str, last_lead: str) -> dict[int, int]:
    """The roles hinted at by the words before an amount, and before the last one."""
    if _FROM.search(lead):
        return {TIME: 0, SPAN: 0}
    if _FROM.search(last_lead) and _TO.search(lead):
        return {TIME: 1, SPAN: 1}
    return {TIME: 0} if _EARLIER.search(lead) else {}


def _is_misplaced(records: RecordFields, pieces: Sequence[_Piece]) -> bool:
    """Whether a piece says of each field with its amount that it is another field."""
    for n, piece in enumerate(pieces):
        others = [other for other in pieces if other is not piece]
        if piece.fields and all(
            _has_other_role(records, piece, field)
            or _has_other_key(records, piece, field, others)
            for field in piece.fields
        ):
            return True
        if _goes_other_way(pieces, n):
            return True
    return False


def _goes_other_way(pieces: Sequence[_Piece], n: int) -> bool:
    """Whether a rise or fall from an amount leads to one that is lower or higher."""
    piece = pieces[n]
    if piece.hints.get(SPAN) != 0 or TIME not in piece.hints:
        return False
    followers = pieces[n + 1 : n + 2]
    is_next = any(other.hints.get(SPAN) == 1 for other in followers)
    others = followers if is_next else [p for p in pieces[:n] if _is_alike(p, piece)]
    if not others:
        return False
    other = others[-1]
    text = piece.text if is_next else f'{other.text} {piece.text}'
    is_down, is_up = (bool(p.search(text.lower())) for p in (_DOWN, _UP))
    change = other.amount.digits - piece.amount.digits
    return is_down != is_up and (change > 0 if is_down else change < 0)


def _is_alike(piece: _Piece, other: _Piece) -> bool:
    """Whether the amounts of two pieces are of one kind of field."""
    stems, others = (
        {stem for field in p.fields for stem in read_words(field.key).stems}
        for p in (piece, other)
    )
    return piece.amount.dimension == other.amount.dimension and bool(stems & others)


def _rivals(records: RecordFields, piece: _Piece, field: Field) -> list[Field]:
    """The other fields of the record that measure the same in other amounts."""
    dimensions = _dimensions(field)
    return [
        rival
        for rival in records.by_name[field.name]
        if rival not in piece.fields and _dimensions(rival) & dimensions
    ]


def _dimensions(field: Field) -> frozenset[str]:
    return frozenset(amount.dimension for amount in find_amounts(field.value))


def _has_other_role(records: RecordFields, piece: _Piece, field: Field) -> bool:
    """Whether a piece names another field's role, or the opposite one."""
    key = read_words(field.key)
    rivals = [read_words(rival.key) for rival in _rivals(records, piece, field)]
    for axis, pole in (piece.hints | piece.words.roles).items():
        pole_of_key = key.roles.get(axis)
        if pole_of_key == pole:
            continue
        has_rival = any(
            rival.roles.get(axis) == pole
            and (rival.stems & key.stems or rival.stems == key.stems)
            for rival in rivals
        )
        is_opposite = pole_of_key is not None and axis in piece.words.roles
        if has_rival or is_opposite:
            return True
    return False


def _has_other_key(
    records: RecordFields, piece: _Piece, field: Field, others: Sequence[_Piece]
) -> bool:
    """
    Whether a piece has words of another field and none of its own, next to the amount
    or where another piece states that field's amount without its words.
    """
    if piece.is_shared:
        return False
    key = read_words(field.key)
    for rival in _rivals(records, piece, field):
        rival_key = read_words(rival.key)
        rival_words = (rival_key.stems - key.stems) & piece.words.stems
        if not rival_words or (key.stems - rival_key.stems) & piece.words.stems:
            continue
        is_swapped = any(
            rival in other.fields and not rival_words & other.words.stems
            for other in others
        )
        if is_swapped or rival_words & piece.near:
            return True
    return False


def _is_copy(
    records: RecordFields, piece: _Piece, field: Field, others: Sequence[_Piece]
) -> bool:
    """
    Whether a piece says only what a field says and has no other words. It names the
    field by a word, or by its role among fields of one kind: those of its unit, or
    those that the response speaks of.
    """
    key, name = read_words(field.key), read_words(field.name)
    words = piece.words
    if not words.stems <= key.stems | name.stems | NEUTRAL:
        return False
    if not words.periods <= key.periods:
        return False
    if any(key.roles.get(axis) != pole for axis, pole in words.roles.items()):
        return False
    if key.stems & words.stems:
        return True
    roles = piece.hints | words.roles
    if not any(roles.get(axis) == pole for axis, pole in key.roles.items()):
        return False
    if not key.stems or any(_is_alike(piece, other) for other in others):
        return True
    rivals = [read_words(rival.key) for rival in _rivals(records, piece, field)]
    return piece.amount.dimension != '' and all(
        rival.stems == key.stems for rival in rivals
    )
