"""
The words that fill the slots of invented facts (``pools.txt``), and how a slot prints
them.

A slot of a sentence is ``{A}``, ``{A:spec}`` for another form, or ``{A.field}`` of a
record; :class:`Noun` and :class:`Number` say which forms there are.
"""

import random
from functools import cache
from importlib.resources import files
from types import SimpleNamespace
from typing import Any

from parlai_q2.text.amounts import SMALL
from parlai_q2.text.amounts import TENS as TENS_BY_WORD

FILE = 'pools.txt'
PERSON = 'person'
# The fields of records, in the order of the file.
FIELDS = {
    'thingy': 'adj er opp oppadj',
    'humanly': 'adj er opp oppadj',
    'beastly': 'adj er opp oppadj',
    'superly': 'adj er opp oppadj est oppest',
    'sight': 'one pl',
    'prize': 'pl one',
    'predicate': 'one pl do does dont doesnt',
    'trait': 'do does dont doesnt',
    'action': 'base past pp',
    'accusation': 'base past pp',
    'deed': 'base past pp',
    'life': 'past pp',
    'career': 'past pp',
    'actof': 'past pp',
    'saying': 'past pp',
    'asking': 'past pp',
    'cooking': 'ing base pp',
    'process': 'does pp base other otherpp',
    'kin': 'of back other',
    'compass': 'to back',
    'condition2': 'yes no',
    'habit': 'who do',
    'step': 'pas',
    'custom': 'sing',
    'effect': 'n',
}
ONES = [*SMALL]
TENS = [*TENS_BY_WORD]
TIMES = {2: 'twice', 3: 'three times', 4: 'four times', 5: 'five times'}
SHARES = {
    10: 'one in ten', 20: 'a fifth', 25: 'a quarter', 33: 'about a third', 50: 'half',
    67: 'about two thirds', 75: 'three quarters', 90: 'nine in ten',
}  # fmt: skip
# Measures in another unit: the factor, what is added, and the range that is drawn.
CONVERTED = {
    'kmtomiles': (0.6214, 0, 8, 400),
    'mtofeet': (3.2808, 0, 12, 380),
    'kgtolb': (2.2046, 0, 3, 300),
    'ctof': (1.8, 32, 4, 95),
    'ltogal': (0.2642, 0, 8, 400),
}


class Noun(str):
    """``{A:the}``, ``{A:a}``, ``{A:A}`` with an article, ``{A:pl}``, ``{A:Cap}``."""

    plural = ''

    def __format__(self, spec: str) -> str:
        text = str(self)  # a string of its own: no further call of this
        article = 'an' if text[0].lower() in 'aeiou' else 'a'
        forms = {
            'the': f'the {text}',
            'a': f'{article} {text}',
            'A': f'{article.capitalize()} {text}',
            'pl': str(self.plural),
            'Cap': text[:1].upper() + text[1:],
            'low': text[:1].lower() + text[1:],
        }
        return forms.get(spec, text)


class Number(int):
    """
    ``{n:w}`` in words, ``{n:,}`` with separators; of an hour ``h``; of a year the
    century and decade (``c``, ``dec``) and others (``oc``, ``odec``); rounded
    (``about``, ``under``, ``above``) and by tens off (``tenth``, ``ten``); of a
    percentage its share (``frac``, ``many``) and others (``ofrac``, ``omany``).
    """

    def __format__(self, spec: str) -> str:
        print_form = getattr(self, f'_{spec}', None) if spec.isalpha() else None
        return print_form() if print_form else int.__format__(self, spec)

    def _w(self) -> str:
        return in_words(self)

    def _times(self) -> str:
        return TIMES[self]

    def _h(self) -> str:
        return f'{int(self)} am' if self < 12 else f'{(self - 1) % 12 + 1} pm'

    def _c(self) -> str:
        return f'{(self - 1) // 100 + 1}th'

    def _oc(self) -> str:
        return f'{(self - 1) // 100 - 1}th'

    def _dec(self) -> str:
        return f'{self // 10 * 10}s'

    def _odec(self) -> str:
        return f'{self // 10 * 10 - 40}s'

    def _about(self) -> str:
        return f'about {round(self, -2):,}'

    def _under(self) -> str:
        return f'{(self - 1) // 1000 * 1000:,}'

    def _above(self) -> str:
        return f'{self // 1000 * 1000 + 1000:,}'

    def _tenth(self) -> str:
        return f'about {self // 10:,}'

    def _ten(self) -> str:
        return f'{10 * self:,}'

    def _frac(self) -> str:
        return SHARES[self]

    def _ofrac(self) -> str:
        return SHARES[10 if self > 40 else 75]

    def _many(self) -> str:
        if self == 50:
            return 'exactly half'
        return 'the majority' if self > 50 else 'less than half'

    def _omany(self) -> str:
        return 'less than half' if self >= 50 else 'the majority'


def in_words(n: int) -> str:
    """A number in words, 0 <= n < 100, or below 10,000 as digits with separators."""
    if n < 20:
        return ONES[n]
    if n < 100:
        ten, unit = divmod(n, 10)
        return TENS[ten - 2] + (f'-{ONES[unit]}' if unit else '')
    return f'{n:,}'


@cache
def load_pools() -> dict[str, tuple[Any, ...]]:
    """The words of each pool."""
    text = (files('parlai_q2.zoo.train.twins') / FILE).read_text(encoding='utf-8')
    words_by_pool: dict[str, tuple[Any, ...]] = {}
    for line in text.splitlines():
        if line.strip() and not line.startswith('#'):
            name, words = line.split(' = ')
            words_by_pool[name] = tuple(_word(name, w) for w in words.split(' | '))
    return words_by_pool


def _word(pool: str, text: str) -> Any:
    parts = [part.strip() for part in text.split(';')]
    if pool in FIELDS:
        fields = dict(zip(FIELDS[pool].split(), map(Noun, parts), strict=True))
        upper = {n.capitalize(): Noun(v[:1].upper() + v[1:]) for n, v in fields.items()}
        return SimpleNamespace(**fields, **upper)
    noun = Noun(parts[0])
    noun.plural = parts[-1]
    return noun


def draw_words(pool: str, count: int, rng: random.Random) -> list[Any]:
    """Different words of a pool."""
    if pool == PERSON:
        firsts, lasts = (
            draw_words('name', count, rng),
            draw_words('surname', count, rng),
        )
        return [Noun(' '.join((a, b))) for a, b in zip(firsts, lasts, strict=True)]
    if pool in CONVERTED:
        factor, plus, low, high = CONVERTED[pool]
        value = rng.randint(low, high)
        converted = round(value * factor + plus)
        wrong = round(converted * rng.choice((0.4, 2.5, 4)))
        return [SimpleNamespace(km=value, mi=converted, bad=wrong)]
    if pool == 'pct':
        return [Number(w) for w in rng.sample(load_pools()[pool], count)]
    return rng.sample(load_pools()[pool], count)
