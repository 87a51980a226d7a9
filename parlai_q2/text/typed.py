"""
What people type as one option: names and pairs with commas between, and line ends.
"""

from typing import Optional

from parlai_q2.errors import ConfigError


def typed_names(text: Optional[str]) -> list[str]:
    """
    Names with commas between, in order; none for None.

    >>> typed_names('q2, nli,')
    ['q2', 'nli']
    """
    return [name for name in map(str.strip, (text or '').split(',')) if name]


def typed_pairs(text: Optional[str], option: str, form: str, example: str) -> dict:
    """
    Pairs with commas between, each of two names with an equals sign between.

    :param text: what was typed; None or empty for none.
    :param option: the option, for messages.
    :param form: what a pair is, for messages, e.g. ``label=class``.
    :param example: some pairs, for messages.
    :return: name to name; the second may be empty.
    :raises ConfigError: when a part is no pair.
    """
    pairs = {}
    for part in typed_names(text):
        first, equals, second = map(str.strip, part.partition('='))
        if not equals or not first:
            raise ConfigError(
                f'{option} has {part!r}, which is not {form}. Write e.g. "{example}".'
            )
        pairs[first] = second
    return pairs


def typed_line_ends(text: str) -> str:
    """
    A text in which ``\\n`` is a line end: a shell passes it as two characters.
    """
    return text.replace('\\n', '\n')
