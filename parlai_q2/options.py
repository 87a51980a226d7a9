"""
Parses option values that people type: comma-separated names or pairs, and line ends.
"""

from typing import Any

from parlai_q2.errors import ConfigError


def split_names(text: str | None) -> list[str]:
    """
    Parse comma-separated names; None gives an empty list.

    >>> split_names('q2, nli,')
    ['q2', 'nli']
    """
    return [name for name in map(str.strip, (text or '').split(',')) if name]


def split_pairs(
    text: str | None, option: str, form: str, example: str
) -> dict[str, Any]:
    """
    Parse comma-separated pairs such as ``first=second``.

    :param option: the option's name, for messages, like the form of a pair
        (``label=class``) and an example.
    :return: maps the first name of each pair to the second, which may be empty.
    :raises ConfigError: if a part is not a pair.
    """
    pairs = {}
    for part in split_names(text):
        first, equals, second = map(str.strip, part.partition('='))
        if not equals or not first:
            raise ConfigError(
                f'{option} has {part!r}, which is not {form}. Write e.g. "{example}".'
            )
        pairs[first] = second
    return pairs


def line_ends(text: str) -> str:
    """Replace each ``\\n``, which a shell passes as two characters, by a line end."""
    return text.replace('\\n', '\n')
