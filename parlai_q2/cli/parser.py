"""
The parser of commands that do not need ParlAI. Like ParlAI's parser, it accepts
``--batch_size`` for ``--batch-size``, and ``yes`` or ``no`` for a switch.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from parlai_q2.errors import ConfigError, UnknownNameError
from parlai_q2.io.files import Location, locate
from parlai_q2.options import OptionGroup, Options, long_names

YES, NO = ('yes', 'true', 't', '1', 'on'), ('no', 'false', 'f', '0', 'off')


class Parser(argparse.ArgumentParser):
    """A command's parser, whose errors are one line each."""

    def __init__(self, command: str, what: str):
        super().__init__(
            prog=f'parlai_q2 {command}', description=what, formatter_class=Help
        )
        self.register('type', 'bool', truth)
        self.add_argument(
            '-v', '--verbose', action='store_true', help='also log the details'
        )
        self.add_argument(
            '-q',
            '--quiet',
            action='store_true',
            help='show errors, but no log and no progress',
        )

    def parse(self, arguments: Sequence[str]) -> dict[str, Any]:
        """Parse arguments to options; a ConfigError if one is not valid."""
        values, unknown = self.parse_known_args([dashed(a) for a in arguments])
        options = [o for o in unknown if o.startswith('-')]
        if options:
            name = options[0].partition('=')[0]
            raise UnknownNameError('option', name, long_names(self))
        if unknown:
            self.error(f'unexpected argument {unknown[0]!r}')
        return vars(values)

    def with_values(self, arguments: Sequence[str], **values: object) -> dict[str, Any]:
        """Parse arguments, and add further options by name, as Python values."""
        opt = self.parse(arguments)
        for name in values:
            if name not in opt:
                raise UnknownNameError('option', name, opt)
        return {**opt, **values}

    def error(self, message: str) -> NoReturn:
        line = message[:1].upper() + message[1:]
        if line.startswith('Ambiguous option: --scorer '):
            from parlai_q2.scorers.roles import Role

            role_options = [f'--{role.value}' for role in Role]
            own_options = [o for o in role_options if o in long_names(self)]
            line += f'. Scorers are named by {" or ".join(own_options)}'
        raise ConfigError(f'{line}. To list the options: {self.prog} --help')


class Help(argparse.HelpFormatter):
    """Adds defaults to help texts that do not give them."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        text = action.help or ''
        if action.default in (None, False, argparse.SUPPRESS) or 'default' in text:
            return text
        return f'{text} (default: %(default)s)'


def dashed(argument: str) -> str:
    """
    An argument with dashes in its option's name.

    >>> dashed('--chunk_size=a_b')
    '--chunk-size=a_b'
    """
    if not argument.startswith('--'):
        return argument
    name, equals, value = argument.partition('=')
    return name.replace('_', '-') + equals + value


def truth(text: str) -> bool:
    """Parse the value of a switch."""
    if text.lower() not in YES + NO:
        raise argparse.ArgumentTypeError(f'{text!r} is neither yes nor no')
    return text.lower() in YES


def check_given(opt: Options, name: str, example: str = 'FILE') -> None:
    """
    Check that an option names a file, e.g. ``outfile``. The parser would refuse even
    ``--help`` without it.
    """
    if not opt.get(name):
        raise ConfigError(f'--{name} is missing. Give a file: --{name} {example}')


def given_file(opt: Options, name: str, example: str = 'FILE') -> Path:
    """Return the file on this machine that an option names, e.g. ``outfile``."""
    check_given(opt, name, example)
    return local_path(str(opt[name]), name)


def local_path(name: str, option: str) -> Path:
    """A file on this machine; a ConfigError for a URL, which is not written to."""
    if '://' in name:
        raise ConfigError(
            f'--{option} takes a file on this machine, not {name}. Copy it afterwards.'
        )
    return Path(name)


def given_files(opt: Options) -> tuple[Location, Path]:
    """``--infile``, perhaps a URL, and ``--outfile``, like :func:`given_file`."""
    check_given(opt, 'infile')
    return locate(str(opt['infile'])), given_file(opt, 'outfile')


def add_fields_option(group: OptionGroup) -> None:
    """Add ``--fields``, read by :func:`~parlai_q2.io.fields.read_fields`."""
    group.add_argument(
        '--fields',
        help='other names of the fields in your file, such as '
        "'knowledge=context,history=question'",
    )
