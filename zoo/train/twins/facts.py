"""
Twins from invented facts (``facts.txt``), of kinds that rules on corpus sentences yield
too rarely: comparisons from the other side, quantifiers, order in time, attributes of
one of two things, converse relations, qualifiers, numbers and units; and from service
talk (``service.txt``): house rules, and replies to customers who ask. A permission, an
offer or a yes is a claim, right or wrong by the rule.

Knowledge, right and wrong sentences are drawn independently, so that neither words nor
their order tell which is right. Facts that are marked ``held`` are not taught: they
show what has been learnt of a construction that was never seen.

Words from ``pools.txt`` fill the slots. A slot of a sentence is ``{A}``, ``{A:spec}``
for another form, or ``{A.field}`` of a record; :class:`Noun` and :class:`Number` say
which forms there are.
"""

import random
import re
from collections.abc import Callable, Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any, NamedTuple

from parlai_q2.text.numerals import SMALL
from parlai_q2.text.numerals import TENS as TENS_BY_WORD
from parlai_q2.zoo.train.twins.twin import CONTRADICTED, Twin, read_lines

POOLS_FILE = 'pools.txt'
PERSON = 'person'
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
        form = NUMBER_FORMS.get(spec)
        return form(int(self)) if form else int.__format__(self, spec)


def in_words(n: int) -> str:
    """A number in words, 0 <= n < 100, or below 10,000 as digits with separators."""
    if n < 20:
        return ONES[n]
    if n < 100:
        ten, unit = divmod(n, 10)
        return TENS[ten - 2] + (f'-{ONES[unit]}' if unit else '')
    return f'{n:,}'


NUMBER_FORMS: dict[str, Callable[[int], str]] = {
    'w': in_words,
    'times': TIMES.__getitem__,
    'h': lambda n: f'{n} am' if n < 12 else f'{(n - 1) % 12 + 1} pm',
    'c': lambda n: f'{(n - 1) // 100 + 1}th',
    'oc': lambda n: f'{(n - 1) // 100 - 1}th',
    'dec': lambda n: f'{n // 10 * 10}s',
    'odec': lambda n: f'{n // 10 * 10 - 40}s',
    'about': lambda n: f'about {round(n, -2):,}',
    'under': lambda n: f'{(n - 1) // 1000 * 1000:,}',
    'above': lambda n: f'{n // 1000 * 1000 + 1000:,}',
    'tenth': lambda n: f'about {n // 10:,}',
    'ten': lambda n: f'{10 * n:,}',
    'frac': SHARES.__getitem__,
    'ofrac': lambda n: SHARES[10 if n > 40 else 75],
    'many': lambda n: 'exactly half' if n == 50 else _share_of_all(n > 50),
    'omany': lambda n: _share_of_all(n < 50),
}


def _share_of_all(is_most: bool) -> str:
    return 'the majority' if is_most else 'less than half'


@cache
def load_pools() -> dict[str, tuple[Any, ...]]:
    """The words of each pool."""
    words_by_pool: dict[str, tuple[Any, ...]] = {}
    for line in read_lines(POOLS_FILE):
        head, words = line.split(' = ')
        name, _, names = head.partition('; ')
        words_by_pool[name] = tuple(_word(w, names.split()) for w in words.split(' | '))
    return words_by_pool


def _word(text: str, names: Sequence[str]) -> Any:
    parts = [part.strip() for part in text.split(';')]
    if names:
        fields = dict(zip(names, map(Noun, parts), strict=True))
        upper = {n.capitalize(): Noun(v[:1].upper() + v[1:]) for n, v in fields.items()}
        return SimpleNamespace(**fields, **upper)
    noun = Noun(parts[0])
    noun.plural = parts[-1]
    return noun


def draw_words(pool: str, count: int, rng: random.Random) -> list[Any]:
    """Different words of a pool."""
    if pool == PERSON:
        firsts = draw_words('name', count, rng)
        lasts = draw_words('surname', count, rng)
        return [Noun(f'{a} {b}') for a, b in zip(firsts, lasts, strict=True)]
    if pool in CONVERTED:
        factor, plus, low, high = CONVERTED[pool]
        value = rng.randint(low, high)
        converted = round(value * factor + plus)
        wrong = round(converted * rng.choice((0.4, 2.5, 4)))
        return [SimpleNamespace(km=value, mi=converted, bad=wrong)]
    if pool == 'pct':
        return [Number(w) for w in rng.sample(load_pools()[pool], count)]
    return rng.sample(load_pools()[pool], count)


FACTS, SERVICE = 'facts.txt', 'service.txt'
HELD_OUT_PREFIX = 'held '
_COMPUTED = re.compile(r'(\w)=(\w)([-+*])(\w+)')
_NUMBERS = re.compile(r'(\w)(?:([<>,])(\w))?:(\d+)-(\d+)')
_SUMS = {'-': lambda a, b: a - b, '+': lambda a, b: a + b, '*': lambda a, b: a * b}


class Fact(NamedTuple):
    """A fact's kind, its slots, and its forms by letter: K, R and W."""

    kind: str
    slots: tuple[str, ...]
    forms: dict[str, tuple[str, ...]]


@cache
def load_facts(held_out: bool = False, file: str = FACTS) -> tuple[Fact, ...]:
    """The facts of a file that are taught, or those that are held out."""
    all_facts: list[Fact] = []
    for line in read_lines(file):
        if line.startswith('@ '):
            kind, *slots = (part.strip() for part in line[2:].split(';'))
            all_facts.append(Fact(kind, tuple(slots), {}))
        elif line[:2] in ('K ', 'R ', 'W '):
            all_facts[-1].forms[line[0]] = tuple(line[2:].split(' | '))
    chosen = [f for f in all_facts if f.kind.startswith(HELD_OUT_PREFIX) == held_out]
    return tuple(f._replace(kind=f.kind.removeprefix(HELD_OUT_PREFIX)) for f in chosen)


def fill_slots(slots: tuple[str, ...], rng: random.Random) -> dict[str, Any]:
    """Values for the slots of a fact."""
    values: dict[str, Any] = {}
    for slot in slots:
        if match := _COMPUTED.fullmatch(slot):
            name, first, sign, second = match.groups()
            operand = int(second) if second.isdigit() else values[second]
            values[name] = Number(_SUMS[sign](values[first], operand))
        elif match := _NUMBERS.fullmatch(slot):
            first, sign, second, low, high = match.groups()
            numbers = sorted(rng.sample(range(int(low), int(high) + 1), 2))
            if sign == '>' or (sign == ',' and rng.random() < 0.5):
                numbers.reverse()
            values[first] = Number(numbers[0])
            if second:
                values[second] = Number(numbers[1])
        else:
            names, pool = slot.split(':')
            letters = names.split(',')
            values.update(
                zip(letters, draw_words(pool, len(letters), rng), strict=True)
            )
    return values


def fact_twin(
    rng: random.Random, held_out: bool = False, file: str = FACTS
) -> tuple[str, Twin]:
    """A made-up piece of knowledge, and a twin under it."""
    facts = load_facts(held_out, file)
    kind = rng.choice(sorted({fact.kind for fact in facts}))
    fact = rng.choice([fact for fact in facts if fact.kind == kind])
    values = fill_slots(fact.slots, rng)

    def draw_sentence(letter: str) -> str:
        text = rng.choice(fact.forms[letter]).format(**values)
        return text[:1].upper() + text[1:]

    knowledge, right = draw_sentence('K'), draw_sentence('R')
    while (wrong := draw_sentence('W')).lower() == right.lower():
        pass
    return knowledge, Twin(f'fact {fact.kind}', right, wrong, CONTRADICTED)
