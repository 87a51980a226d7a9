"""
Options that are fields of a settings class, switches, options that set the defaults of
other options, and types of option values: closed sets of words (enums whose members are
equal to their texts), comma-separated names or pairs, and line ends.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, fields
from enum import Enum
from itertools import chain
from typing import Any, TypeVar

from parlai_q2.errors import ConfigError, UnknownNameError

W = TypeVar('W', bound='Word')
# The options of a command by name.
Options = Mapping[str, Any]


# The parser of a command, perhaps ParlAI's.
OptionParser = argparse.ArgumentParser
# What argparse has no public name for: a parser or an argument group, and the class of
# the usual option, which ParlAI's parse_kwargs asks for.
OptionGroup = argparse._ActionsContainer
StoreAction = argparse._StoreAction


def list_options(parser: OptionParser) -> list[argparse.Action]:
    """The options of a parser, for which argparse has no public name either."""
    return [*parser._actions]


def long_names(parser: OptionParser) -> list[str]:
    """The names of a parser's options that begin with two dashes."""
    names = chain.from_iterable(a.option_strings for a in list_options(parser))
    return [name for name in names if name.startswith('--')]


def add_switch(group: OptionGroup, name: str, help: str) -> None:
    """Add a switch: off by default, on if given alone or with ``yes``."""
    group.add_argument(
        name, nargs='?', type='bool', const=True, default=False, help=help
    )


def option_field(default: Any, help: str) -> Any:
    """A field of a settings class that :func:`add_options_of` makes an option of."""
    return field(default=default, metadata={'help': help})


def add_options_of(group: OptionGroup, settings: type, *names: str) -> None:
    """Add the options of a settings class; of ``names`` alone, if any are given."""
    for item in fields(settings):
        if not item.metadata or (names and item.name not in names):
            continue
        option, text = f'--{item.name.replace("_", "-")}', item.metadata['help']
        default = item.default
        if default is False:
            add_switch(group, option, text)
        else:
            group.add_argument(option, type=type(default), default=default, help=text)


class StoreAndCallAction(StoreAction):
    """
    Stores an option, and calls ``call`` with the parser and the options so far, which
    may set defaults or add options: they take effect when ParlAI reads the command line
    again, once it knows the agent's options.
    """

    def __init__(
        self, *names: Any, call: Callable[[Any, Options], None], **settings: Any
    ):
        super().__init__(*names, **settings)
        self.call = call

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[object] | None,
        option_string: str | None = None,
    ) -> None:
        super().__call__(parser, namespace, values, option_string)
        self.call(parser, vars(namespace))


_WITH_WORDS = (Enum, list, tuple)


class Word(str, Enum):
    """One of a closed set of words, which equals its text and prints as its text."""

    __str__ = str.__str__
    __format__ = str.__format__  # type: ignore[assignment]

    @classmethod
    def check(cls, name: str, value: object) -> None:
        """Check that the value of a setting is one of the words; else a ConfigError."""
        if value not in tuple(cls):
            words = ' or '.join(cls)
            raise ConfigError(f'{name} must be {words}, not {value!r}.')

    @classmethod
    def named(cls: type[W], kind: str, name: Any) -> W:
        """The word with this name; an error for an unknown one suggests the nearest."""
        match = next((word for word in cls if word == name), None)
        if match is None:
            raise UnknownNameError(kind, name, cls)
        return match

    def __repr__(self) -> str:
        # This is a function, because Sphinx inspects the __repr__ of an enum.
        return str.__repr__(self)


def plain(fields: Mapping[str, object]) -> dict[str, Any]:
    """
    Fields with the words of enums, also those in lists, as plain text: YAML, which
    ParlAI's tests write, and pickles of other releases know none.

    >>> from parlai_q2.claims import Label, Status
    >>> plain({'label': Label.GENERIC, 'guards': (Status.GENERIC,)})
    {'label': 'generic', 'guards': ('generic',)}
    """
    return {
        name: _plain(value) if isinstance(value, _WITH_WORDS) else value
        for name, value in fields.items()
    }


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return str(value)
    if type(value) in (list, tuple) and value and isinstance(value[0], Enum):
        return type(value)(map(str, value))
    return value


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
    Parse comma-separated pairs such as ``first=second``, whose second may be empty. An
    error names the option, the form of a pair and an example.
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
