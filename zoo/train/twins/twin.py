"""
A right and a wrong response to one knowledge, as alike in their words as can be; and
small talk that stands beside a claim and changes nothing about it.
"""

import random
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

UNSUPPORTED, CONTRADICTED = 1, 2


class Twin(NamedTuple):
    """
    :param kind: what was changed.
    :param right: a sentence that says what the original says.
    :param wrong: a sentence that does not.
    :param label: the detector's class of the wrong one.
    """

    kind: str
    right: str
    wrong: str
    label: int = CONTRADICTED


class Forms(NamedTuple):
    """A line of a file of forms, ``HEAD => RIGHT | RIGHT ## WRONG | WRONG``."""

    head: str
    right: tuple[str, ...]
    wrong: tuple[str, ...]


def read_lines(name: str) -> list[str]:
    """The lines of a file in this folder, without blank ones and comments."""
    text = (files('parlai_q2.zoo.train.twins') / name).read_text(encoding='utf-8')
    lines = text.splitlines()
    return [line for line in lines if line.strip() and not line.startswith('#')]


@cache
def forms(name: str) -> tuple[Forms, ...]:
    """The lines of a file of forms in this folder."""
    lines = []
    for line in read_lines(name):
        head, alternatives = line.split(' => ')
        right, wrong = map(_split_forms, alternatives.split(' ## '))
        lines.append(Forms(head, right, wrong))
    return tuple(lines)


def _split_forms(text: str) -> tuple[str, ...]:
    return tuple(form.strip() for form in text.split(' | '))


def put(text: str, match: re.Match[str], words: str) -> str:
    """Replace a match in a text by other words."""
    return text[: match.start()] + words + text[match.end() :]


def imitate_typing(text: str, rng: random.Random) -> str:
    """Write half of the texts as people type: in lower case, some with no full stop."""
    if rng.random() < 0.5:
        return text
    text = text.lower()
    return text.rstrip(' .') if rng.random() < 0.3 else text


def end_sentence(text: str) -> str:
    """A text with a mark at its end."""
    text = text.rstrip()
    return text if text.endswith(('.', '!', '?')) else f'{text}.'


def _remarks(text: str) -> list[str]:
    return text.strip().replace('\n', '|').split('|')


BEFORE = _remarks("""
oh i love that!|i'm so bad at it, haha.|yum, my favourite!|wow, really interesting.
my sister is a big fan.|that reminds me of my childhood.|good question!|haha, same here.
i've always been curious about it.|sorry, i'm new to this.|i used to have one.
my kids can't get enough of it.|i was there last year, it was fun.|great choice!
my dad told me about it once.|oh no, that sounds tough.|cool, tell me more some time!
i had no idea you liked that.|nice, i've been meaning to try it.|my mum grew up with it.
hi there!|thanks for asking!|i had to look it up.|i read something about it yesterday.
let me think.|honestly, it's not really my thing.|we watched it together last week.
i'm a bit jealous now!|you should give it a go.|i once met somebody who knew it all.
it always makes me happy.|hmm, i'm not sure i would dare.|i'd love to go there one day.
that's my favourite topic.|i have fond memories of it.|sounds like a lovely day!
""")
AFTER = _remarks("""
do you like it too?|isn't that cool?|what do you think?|i find that fascinating.
have you ever tried it?|i wish i had known that before.|pretty amazing, right?
i hope that helps!|so relaxing.|let me know how it goes.|makes me want to try it again.
have you been there?|i love that.|i learned that just recently.|who would have thought!
""")


FILE_SHARE = 0.4  # the share of this file's where there is other small talk


def add_small_talk(text: str, rng: random.Random, chatter: Sequence[str] = ()) -> str:
    """
    A text with small talk before it, after it, or on both sides.

    :param chatter: other small talk, which most texts then have.
    """
    text = end_sentence(text)
    if chatter and rng.random() > FILE_SHARE:
        remark = end_sentence(rng.choice(chatter))
        return f'{remark} {text}' if rng.random() < 0.7 else f'{text} {remark}'
    before, after = rng.choice(BEFORE), rng.choice(AFTER)
    return rng.choice(
        (
            f'{before} {text}',
            f'{before} {text}',
            f'{text} {after}',
            f'{before} {text} {after}',
        )
    )
