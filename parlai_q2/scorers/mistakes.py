"""
Says what is wrong with a claim that the knowledge does not support: a number, a name, a
time, a negation, a comparison, or something that the knowledge does not have.

The rules read the sentence of the claim beside the sentence of the knowledge that has
most of its words. Where they cannot tell, the mistake is ``other``. Scores do not
depend on them. docs/research.md has their precision and recall.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial

from parlai_q2.claims import (
    Claim,
    Evidence,
    Mistake,
    MistakeKind,
    Score,
    Stance,
    Status,
)
from parlai_q2.text.agreement import index_amounts, unsupported_amounts
from parlai_q2.text.amounts import Amount, find_amounts
from parlai_q2.text.selection import (
    FUNCTION_WORDS,
    STEM,
    SentenceIndex,
    index_passages,
    stems,
)
from parlai_q2.text.sentences import sentences
from parlai_q2.turns import Example, Span

# A claim is an addition if the knowledge has at most this share of its words.
ADDED_SHARE = 0.4
# Two clauses say or deny the same if one has this share of the other's words.
SAME_SHARE = 0.5
# Sentences of the knowledge that are compared with a claim.
NEAREST = 2
# The statuses of claims with a mistake.
WRONG = (Status.UNSUPPORTED, Status.CONTRADICTED)
# Numbers that are years, if they have no unit.
YEARS = frozenset(range(1000, 2101))

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_CLAUSE_END = re.compile(
    r'[;,:—–]|\b(?:but|although|though|while|whereas|because|since|so)\b', re.IGNORECASE
)
_NEGATION = re.compile(
    r'\b(?:not|no|never|none|nobody|nothing|neither|nor|without|cannot|hardly|'
    r"\w+n['’]t)\b|\bn['’]t\b",
    re.IGNORECASE,
)
_COMPARISON = re.compile(
    r'\b(?:(?<!or )more|(?<!or )less|fewer|most|least|fewest|same|equal(?:ly)?|twice|'
    r'unlike|(?<!rather )(?<!other )than|'
    r'better|worse|best|worst|(?:larg|small|bigg|high|low|old|eld|young|long|short|'
    r'strong|weak|fast|slow|cheap|tall|heavi|light|great|near|farth|furth|deep|wid|thick|'
    r'thinn|hott|warm|cold|cool|hard|soft|new|dear|rich|poor|bright|dark|quick|saf|clos|'
    r'earli|eas|busi)(?:er|r|est|st))\b',
    re.IGNORECASE,
)
_TIME = re.compile(
    r'\b(?:before|after|until|till|since|ago|first|last|next|yesterday|today|tomorrow|'
    r'still|already|soon|later|earlier|early|late|(?:after)?noons?|mornings?|evenings?|'
    r'nights?|midnight|spring|summers?|autumn|winters?|weekends?|daily|weekly|monthly|'
    r'yearly|annual(?:ly)?|hours?|minutes?|days?|weeks?|months?|years?|decades?|'
    r'centur(?:y|ies)|recent(?:ly)?|once|formerly|originally|anymore|january|february|'
    r'march|april|june|july|august|september|october|november|december|'
    r'(?:mon|tues|wednes|thurs|fri|satur|sun)days?|[12]\d{3}s?|\d{1,2}:\d{2})\b',
    re.IGNORECASE,
)
_ORDINAL = re.compile(
    r'\b(?:second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|\d+(?:st|nd|rd|th)|'
    r'half|dozens?|hundreds?|thousands?|millions?|double[ds]?|tripled?)\b',
    re.IGNORECASE,
)
_MONTH_END = re.compile(
    r'(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]* $', re.IGNORECASE
)
_HOUR_START = re.compile(
    r"\s?(?:am|pm|[ap]\.m\.|o['’]clock|in the (?:morning|afternoon|evening)|at night)",
    re.IGNORECASE,
)
_WORDS = {
    MistakeKind.NUMBER: _ORDINAL,
    MistakeKind.NEGATION: _NEGATION,
    MistakeKind.COMPARISON: _COMPARISON,
    MistakeKind.TIME: _TIME,
}
# Capital letters begin a name, but one at the start of a sentence says nothing.
_CAPITAL = r"[A-Z][\w'’-]+"
_NAME = re.compile(
    rf'\b(?!(?i:{"|".join(sorted(FUNCTION_WORDS))})\b)'
    rf'(?:{_CAPITAL}(?: {_CAPITAL})+|(?<!^)(?<![.!?] ){_CAPITAL})'
)


@dataclass(frozen=True)
class ClaimReading:
    """
    What a rule reads of a claim.

    :param text: its sentence.
    :param mark: the claim's words in the sentence, perhaps all of it.
    :param example: the knowledge and the response.
    :param known_stems: of the knowledge's words and function words: "before" for
        "after" is a mistake.
    :param is_contradicted: whether the knowledge says otherwise.
    """

    text: str
    mark: Span
    example: Example
    known_stems: frozenset[str]
    is_contradicted: bool

    @cached_property
    def knowledge_index(self) -> SentenceIndex:
        """The sentences of the knowledge, which few rules read."""
        return index_passages(*self.example.texts)

    @cached_property
    def nearest(self) -> list[int]:
        """The sentences of the knowledge that match the sentence, the best first."""
        return self.knowledge_index.best(self.text, NEAREST)

    @property
    def is_part(self) -> bool:
        """Whether the claim marks a part of its sentence."""
        return len(self.mark.text.strip(' .!?')) < len(self.text.strip(' .!?'))

    def new_words(self) -> list[re.Match[str]]:
        """The words of the sentence that are nowhere in the knowledge."""
        words = _WORD.finditer(self.text)
        return [
            word for word in words if word[0].lower()[:STEM] not in self.known_stems
        ]

    def evidence(self, nearest: int, start: int, end: int) -> Evidence:
        """Words of a sentence of the knowledge."""
        text, offset, _ = self.knowledge_index.sentences[nearest]
        span = Span(text[start:end], offset + start, offset + end)
        return Evidence(self.knowledge_index.passages[nearest], span, Stance.AGAINST)


# A kind of mistake, where it is in the sentence, and what the knowledge has instead.
Verdict = tuple[MistakeKind, Span, Evidence | None]


def name_mistakes(score: Score, example: Example) -> Score:
    """A score whose unsupported claims say what is wrong, those about questions not."""
    if not any(_is_wrong(claim) for claim in score.claims):
        return score
    known_stems = _known_stems(example.knowledge_text)
    spans = sentences(example.response)
    claims = list(score.claims)
    for place, claim in enumerate(claims):
        if _is_wrong(claim):
            sentence = next(filter(partial(_is_in, claim.span), spans), claim.span)
            mistake = _find_mistake(claim, sentence, example, known_stems)
            claims[place] = replace(claim, mistake=mistake)
    return replace(score, claims=tuple(claims))


# Candidates share the knowledge.
@lru_cache(maxsize=64)
def _known_stems(knowledge: str) -> frozenset[str]:
    return frozenset({word[:STEM] for word in _WORD.findall(knowledge.lower())})


def lacks_mistake(score: Score) -> bool:
    """Whether an unsupported claim of a score does not say what is wrong."""
    return any(_is_wrong(claim) and not claim.mistake for claim in score.claims)


def _find_mistake(
    claim: Claim, sentence: Span, example: Example, known_stems: frozenset[str]
) -> Mistake:
    start, end = (place - sentence.start for place in claim.span[1:])
    reading = ClaimReading(
        text=sentence.text,
        mark=Span(claim.span.text, start, end),
        example=example,
        known_stems=known_stems,
        is_contradicted=claim.status == Status.CONTRADICTED,
    )
    kind, span, reference = next(_verdicts(reading))
    start, end = (place + sentence.start for place in span[1:])
    return Mistake(kind, Span(span.text, start, end), reference)


def _is_in(span: Span, sentence: Span) -> bool:
    return sentence.start <= span.start and span.end <= sentence.end


def _is_wrong(claim: Claim) -> bool:
    return claim.status in WRONG and not claim.question


def _verdicts(reading: ClaimReading) -> Iterator[Verdict]:
    """The verdicts of all rules that can tell, the most reliable first."""
    new = reading.new_words()
    # The mistake is in the marked words or, if all are marked, in those that are new.
    focus = [reading.mark] if reading.is_part else [_locate(word) for word in new]
    may_be_added = not reading.is_contradicted
    if may_be_added and not reading.is_part and _is_added(reading.text, new):
        yield MistakeKind.ADDITION, reading.mark, None
    yield from _amounts(reading)
    if _denies(reading):
        yield MistakeKind.NEGATION, reading.mark, None
    # In what the knowledge is silent about, such words are seldom the mistake.
    if reading.is_part or reading.is_contradicted:
        for kind in _WORDS:
            yield from _matches(kind, focus)
    for match in _NAME.finditer(reading.text):
        if any(match.start() <= word.start() < match.end() for word in new):
            yield MistakeKind.NAME, _locate(match), _other_name(reading)
    if may_be_added and reading.is_part and _is_added(reading.mark.text, new):
        yield MistakeKind.ADDITION, reading.mark, None
    yield MistakeKind.OTHER, reading.mark, None


def _matches(kind: MistakeKind, focus: Sequence[Span]) -> Iterator[Verdict]:
    """The words of a kind among some."""
    for span in focus:
        if match := _WORDS[kind].search(span.text):
            start, end = (span.start + place for place in match.span())
            yield kind, Span(match[0], start, end), None


def _is_added(text: str, new: Sequence[re.Match[str]]) -> bool:
    """Whether most content words of a text are new."""
    words = stems(text)
    known_stems = words - stems(' '.join(word[0] for word in new))
    return bool(words) and len(known_stems) <= ADDED_SHARE * len(words)


def _amounts(reading: ClaimReading) -> Iterator[Verdict]:
    """The amounts that the knowledge does not have, or that are marked."""
    mark = reading.mark
    unsupported = unsupported_amounts(reading.example.knowledge_text, reading.text)
    marked = [
        amount
        for amount in find_amounts(reading.text)
        if reading.is_part and amount.start < mark.end and amount.end > mark.start
    ]
    for amount in (*unsupported, *marked):
        start, end = amount.qualified_start, amount.end
        span = Span(reading.text[start:end], start, end)
        kind = MistakeKind.TIME if _is_time(reading, amount) else MistakeKind.NUMBER
        yield kind, span, _other_amount(reading, amount)


def _is_time(reading: ClaimReading, amount: Amount) -> bool:
    before, after = reading.text[: amount.start], reading.text[amount.end :]
    is_date = _MONTH_END.search(before) or _HOUR_START.match(after)
    return amount.dimension == 'time' or _is_year(amount) or bool(is_date)


def _is_year(amount: Amount) -> bool:
    return not amount.dimension and not amount.is_words and amount.digits in YEARS


def _other_amount(reading: ClaimReading, stated: Amount) -> Evidence | None:
    """
    What the knowledge has instead of an amount: the only one of the nearest sentences
    that measures the same, if the knowledge does not have the stated one as well. Bare
    numbers must count the same.
    """
    if index_amounts(reading.example.knowledge_text).has(stated):
        return None
    for nearest in reading.nearest:
        sentence = reading.knowledge_index.sentences[nearest].text
        amounts = [
            amount
            for amount in find_amounts(sentence)
            if amount.dimension == stated.dimension
            and _is_year(amount) == _is_year(stated)
        ]
        if len(amounts) > 1:
            return None
        for amount in amounts:
            is_bare = not stated.dimension and not _is_year(stated)
            # "14 rooms", or of a record "The rooms of Anker is 14."
            counted = _next_stem(sentence, amount)
            words = {counted} if counted else stems(sentence)
            if not is_bare or _next_stem(reading.text, stated) in words:
                return reading.evidence(nearest, amount.qualified_start, amount.end)
    return None


def _next_stem(text: str, amount: Amount) -> str:
    """The stem of the word after an amount, what it counts; empty if it has none."""
    word = _WORD.search(text, amount.end)
    stem = word[0].lower()[:STEM] if word else ''
    return '' if stem in FUNCTION_WORDS else stem


def _denies(reading: ClaimReading) -> bool:
    """Whether the nearest clause says what the claim's clause denies, or denies it."""
    if not reading.is_contradicted or not reading.nearest:
        return False
    sentence = reading.knowledge_index.sentences[reading.nearest[0]].text
    words = stems(reading.text)
    theirs = max(_clauses(sentence), key=lambda clause: len(stems(clause) & words))
    marked = [c for c in _clauses(reading.text) if reading.mark.text in c]
    ours = max(
        marked or _clauses(reading.text),
        key=lambda clause: len(stems(clause) & stems(theirs)),
    )
    shared = len(stems(ours) & stems(theirs))
    fewer = min(len(stems(ours)), len(stems(theirs)))
    is_same = fewer > 0 and shared >= SAME_SHARE * fewer
    return is_same and bool(_NEGATION.search(ours)) != bool(_NEGATION.search(theirs))


def _clauses(text: str) -> list[str]:
    clauses = [part for part in _CLAUSE_END.split(text) if _WORD.search(part)]
    return clauses or [text]


def _other_name(reading: ClaimReading) -> Evidence | None:
    """The only name of the nearest sentence that the claim does not have."""
    if not reading.nearest:
        return None
    nearest, words = reading.nearest[0], stems(reading.text)
    sentence = reading.knowledge_index.sentences[nearest].text
    names = [m for m in _NAME.finditer(sentence) if not stems(m[0]) & words]
    return reading.evidence(nearest, *names[0].span()) if len(names) == 1 else None


def _locate(match: re.Match[str]) -> Span:
    return Span(match[0], *match.span())
