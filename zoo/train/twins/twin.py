"""A right and a wrong response to one knowledge, as alike in their words as can be."""

import random
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


@cache
def forms(name: str) -> tuple[Forms, ...]:
    """The lines of a file of forms in this folder; those after # are comments."""
    text = (files('parlai_q2.zoo.train.twins') / name).read_text(encoding='utf-8')
    lines = []
    for line in text.splitlines():
        if line.strip() and not line.startswith('#'):
            head, alternatives = line.split(' => ')
            right, wrong = map(_split_forms, alternatives.split(' ## '))
            lines.append(Forms(head, right, wrong))
    return tuple(lines)


def _split_forms(text: str) -> tuple[str, ...]:
    return tuple(form.strip() for form in text.split(' | '))


def imitate_typing(text: str, rng: random.Random) -> str:
    """Half of the texts as people type: in lower case, some without the full stop."""
    if rng.random() < 0.5:
        return text
    text = text.lower()
    return text.rstrip(' .') if rng.random() < 0.3 else text


def end_sentence(text: str) -> str:
    """A text with a mark at its end."""
    text = text.rstrip()
    return text if text.endswith(('.', '!', '?')) else f'{text}.'
