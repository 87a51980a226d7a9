"""A right and a wrong response to one knowledge, as alike in their words as can be."""

import re
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


def read_lines(name: str) -> list[str]:
    """The lines of a file in this folder, without blank ones and comments."""
    text = (files('parlai_q2.zoo.train.twins') / name).read_text(encoding='utf-8')
    lines = text.splitlines()
    return [line for line in lines if line.strip() and not line.startswith('#')]


def put(text: str, match: re.Match[str], words: str) -> str:
    """Replace a match in a text by other words."""
    return text[: match.start()] + words + text[match.end() :]


def end_sentence(text: str) -> str:
    """Add a full stop to a text without a final mark."""
    text = text.rstrip()
    return text if text.endswith(('.', '!', '?')) else f'{text}.'
