"""
Twins from invented facts (``facts.txt``), of kinds that rules on corpus sentences yield
too rarely: comparisons from the other side, quantifiers, order in time, attributes of
one of two things, converse relations, qualifiers, numbers and units.

Knowledge, right and wrong sentences are drawn independently, so that neither words nor
their order tell which is right. Facts that are marked ``held`` are not taught: they
show what has been learnt of a construction that was never seen.
"""

import random
import re
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from parlai_q2.zoo.train.twins.pools import Number, draw_words
from parlai_q2.zoo.train.twins.twin import CONTRADICTED, Twin

FILE = 'facts.txt'
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
def load_facts(held_out: bool = False) -> tuple[Fact, ...]:
    """The facts that are taught, or those that are held out."""
    text = (files('parlai_q2.zoo.train.twins') / FILE).read_text(encoding='utf-8')
    all_facts: list[Fact] = []
    for line in text.splitlines():
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


def fact_twin(rng: random.Random, held_out: bool = False) -> tuple[str, Twin]:
    """A made-up piece of knowledge, and a twin under it."""
    by_kind = sorted({f.kind for f in load_facts(held_out)})
    kind = rng.choice(by_kind)
    fact = rng.choice([f for f in load_facts(held_out) if f.kind == kind])
    values = fill_slots(fact.slots, rng)

    def draw_sentence(letter: str) -> str:
        text = rng.choice(fact.forms[letter]).format(**values)
        return text[:1].upper() + text[1:]

    knowledge, right = draw_sentence('K'), draw_sentence('R')
    while (wrong := draw_sentence('W')).lower() == right.lower():
        pass
    return knowledge, Twin(f'fact {fact.kind}', right, wrong, CONTRADICTED)
