"""Numbers in words and digits."""

import re
from collections.abc import Iterable

ARTICLES = ('a', 'an')
SMALL = {
    word: n
    for n, word in enumerate(
        'zero one two three four five six seven eight nine ten eleven twelve thirteen '
        'fourteen fifteen sixteen seventeen eighteen nineteen'.split()
    )
}
TENS = {
    word: 10 * n
    for n, word in enumerate(
        'twenty thirty forty fifty sixty seventy eighty ninety'.split(), 2
    )
}
SCALES = {
    'hundred': 1e2, 'thousand': 1e3, 'million': 1e6, 'billion': 1e9, 'trillion': 1e12
}  # fmt: skip


def one_of(names: Iterable[str]) -> str:
    """An expression for one of some names, the first that matches, by first letters."""
    rests: dict[str, list[str]] = {}
    for name in names:
        rests.setdefault(name[0], []).append(re.escape(name[1:]))
    groups = (f'{re.escape(first)}(?:{"|".join(r)})' for first, r in rests.items())
    return '|'.join(groups)


NUMBER_WORD = one_of((*SMALL, *TENS, *SCALES, 'dozen'))
FRACTIONS = {'½': 0.5, '¼': 0.25, '¾': 0.75, '⅓': 1 / 3, '⅔': 2 / 3}
_FRACTION = re.compile(r'(?:(\d+) ?)?(?:([½¼¾⅓⅔])|(?<!\d)(\d)/([1-9]))')
_DIGIT_SPACE = re.compile(r'(?<=\d) (?=\d{3}\b)')


def parse_number(text: str) -> float | None:
    """The number of digits or words; None where they are no number."""
    if text.isdecimal():
        return float(text)
    if match := _FRACTION.fullmatch(text):
        whole, sign, upper, lower = match.groups()
        part = FRACTIONS[sign] if sign else int(upper) / int(lower)
        return float(whole or 0) + part
    total = group = 0.0
    text = _DIGIT_SPACE.sub('', text.replace(' and ', ' '))
    for word in re.split(r'[ -]', text):
        if word in ARTICLES:
            continue
        if word in SCALES:
            scale = SCALES[word]
            if scale > 100:
                total, group = total + (group or 1) * scale, 0.0
            else:
                group = (group or 1) * scale
        elif word == 'dozen':
            group = (group or 1) * 12
        elif word in SMALL or word in TENS:
            group += SMALL.get(word, 0) or TENS.get(word, 0)
        else:
            try:
                group += float(_plain_digits(word))
            except ValueError:
                return None
    return total + group


def _plain_digits(word: str) -> str:
    """Digits as Python reads them: "1,200.5" is 1200.5, and "4,90" is 4.90."""
    head, comma, tail = word.rpartition(',')
    if comma and len(tail) < 3:
        return f'{head.replace(".", "")}.{tail}'
    return word.replace(',', '')
