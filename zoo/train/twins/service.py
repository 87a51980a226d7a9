"""
Twins of service talk: house rules, and replies to customers who ask (``service.txt``).
A permission, an offer or a yes is a claim, right or wrong by the rule.
"""

import random
from typing import Any, NamedTuple

from parlai_q2.zoo.train.twins.twin import forms

FILE = 'service.txt'
PLACES = tuple(
    [
        'studio',
        'library',
        'gym',
        'clinic',
        'campsite',
        'hostel',
        'theatre',
        'workshop',
        'office',
        'hall',
    ]
)
ITEMS = tuple(
    [
        'bike',
        'tent',
        'camera',
        'stroller',
        'suitcase',
        'scooter',
        'guitar',
        'laptop',
        'umbrella',
    ]
)
DAYS = tuple(
    ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']
)


class Service(NamedTuple):
    """A rule, and a right and a wrong answer under it."""

    knowledge: str
    right: str
    wrong: str


def hour(n: int) -> str:
    """An hour of the day as it is said, 0 < n < 24."""
    return f'{n} am' if n < 12 else 'noon' if n == 12 else f'{n - 12} pm'


def draw_values(rng: random.Random) -> dict[str, Any]:
    """Values for the words in braces."""
    opens, closes = rng.randint(7, 10), rng.randint(15, 20)
    few, many = rng.randint(2, 6), rng.randint(8, 30)
    price, age = rng.randint(5, 60), rng.choice((12, 14, 16, 18))
    day, other = rng.sample(DAYS, 2)
    return {
        'place': rng.choice(PLACES),
        'item': rng.choice(ITEMS),
        'day': day,
        'other': other,
        'opens': hour(opens),
        'closes': hour(closes),
        'inside': hour(rng.randint(opens + 1, closes - 1)),
        'late': hour(rng.randint(closes + 1, 21)),
        'few': few,
        'many': many,
        'more': many + few * 7,
        'crowd': many + few,
        'price': price,
        'total': price * few,
        'least': price * 10,
        'above': price * 11,
        'age': age,
        'younger': age - few,
        'older': age + few,
        'minutes': few * 15,
    }


def draw_service(rng: random.Random) -> Service:
    """One rule with its answers."""
    rule, values = rng.choice(forms(FILE)), draw_values(rng)
    chosen = (rule.head, rng.choice(rule.right), rng.choice(rule.wrong))
    return Service(*(text.format(**values) for text in chosen))
