"""
Suggests the closest name if a task, teacher, agent, mutator, scorer, preset or option
in a file does not exist.
"""

import pkgutil
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from types import ModuleType
from typing import Any

from parlai_q2.cli.short_names import short_names
from parlai_q2.errors import ConfigError, UnknownNameError, find_nearest_name
from parlai_q2.presets import load_preset
from parlai_q2.scorers.registry import scorer_names
from parlai_q2.scorers.roles import NONE

SCORER_OPTIONS = ('--choose', '--measure', '--explain')
PRESET_OPTIONS = ('--preset', *(f'{name}-preset' for name in SCORER_OPTIONS))
# What modules in folders of these names are, and ParlAI's registry of others.
KINDS = {'tasks': ('task', 'TEACHER_REGISTRY'), 'agents': ('agent', 'AGENT_REGISTRY')}
LOADER, MUTATORS = 'parlai.core.loader', 'parlai.core.mutators'
PARAMS = 'parlai.core.params'
# Where ParlAI looks for tasks and agents.
PLACES = re.compile(r'parlai(_q2|_internal)?\.(tasks|agents)\.')
CLASSES = ('Teacher', 'Agent')
# The parser's message about options that a command does not have.
UNRECOGNIZED = 'unrecognized arguments: '
# ParlAI's message about a key in an option file that is not an option.
NO_OPTION = 'Trying to set opt from file that does not exist: '


def check_scorers(arguments: Sequence[str]) -> None:
    """
    Check the names of scorers and presets in a command's arguments, before anything is
    loaded.

    :raises UnknownNameError: for the first that does not exist; suggests the nearest.
    """
    for option, value in options_of(arguments):
        if option in SCORER_OPTIONS and ':' not in value:
            if value not in (*scorer_names(), NONE):
                raise UnknownNameError('scorer', value, scorer_names())
        elif option in PRESET_OPTIONS:
            load_preset(value)


def check_given(arguments: Sequence[str], option: str, example: str) -> None:
    """
    Check that an option is given, by the arguments or perhaps by an option file.

    :raises ConfigError: when it is not.
    """
    names = {name for name, _ in options_of(arguments)}
    if not names & {option, '-o', '--init-opt'}:
        raise ConfigError(f'{option} is missing. Give a file: {option} {example}')


def options_of(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The options in arguments that have a value, with it."""
    for argument, after in zip(arguments, [*arguments[1:], '-']):
        option, equals, value = argument.partition('=')
        if option.startswith('-'):
            value = value if equals else after
            if not value.startswith('-'):
                yield option.replace('_', '-'), value


@contextmanager
def suggesting_options() -> Iterator[None]:
    """
    Suggest the nearest option for one that a command of ParlAI does not have, instead
    of pages of help.
    """
    params = sys.modules[PARAMS]
    parser_class = params.ParlaiParser
    original = parser_class.error

    def error(parser: Any, message: str) -> None:
        unknown = message.removeprefix(UNRECOGNIZED)
        if unknown == message:
            usage = f'{message[:1].upper()}{message[1:]}. All options: --help'
            raise ConfigError(usage)
        name = unknown.split()[0].partition('=')[0]
        # The options are those of the command's own parser.
        command = getattr(parser, '_help_subparser', None) or parser
        options = chain.from_iterable(a.option_strings for a in command._actions)
        long_options = [option for option in options if option.startswith('--')]
        raise UnknownNameError('option', name, long_options)

    parser_class.error = error
    try:
        yield
    finally:
        parser_class.error = original


@contextmanager
def suggesting(arguments: Sequence[str]) -> Iterator[None]:
    """
    Suggest the nearest name where ParlAI finds none.

    :param arguments: what the user typed, with names of tasks and agents among it.
    :raises ConfigError: instead of ParlAI's error.
    """
    try:
        yield
    except (ImportError, AttributeError, KeyError, RuntimeError) as error:
        explained = explain_name(error, arguments)
        if explained is None:
            raise
        raise explained from error


def explain_name(error: Exception, arguments: Sequence[str]) -> ConfigError | None:
    """
    The error to show for a name that ParlAI did not find; None if it is about something
    else, such as a package that an existing module lacks.
    """
    typed = set(re.split(r'[,+:=\s]', ' '.join(arguments)))
    if isinstance(error, ModuleNotFoundError) and error.name:
        is_typed = any(f'{name}.'.startswith(f'{error.name}.') for name in typed)
        if is_typed or PLACES.match(error.name):
            return _no_module(error.name)
    elif isinstance(error, AttributeError) and isinstance(error.obj, ModuleType):
        if error.name in typed or str(error.name).endswith(CLASSES):
            return _no_class(error.obj, str(error.name))
    elif isinstance(error, KeyError) and error.args and MUTATORS in sys.modules:
        names = sys.modules[MUTATORS].MUTATOR_REGISTRY
        if error.args[0] in typed and error.args[0] not in names:
            return UnknownNameError('mutator', str(error.args[0]), names)
    elif isinstance(error, RuntimeError) and str(error).startswith(NO_OPTION):
        return _no_option(
            str(error).removeprefix(NO_OPTION), dict(options_of(arguments))
        )
    return None


def _no_option(key: str, options: dict[str, str]) -> ConfigError:
    optfile = options.get('--init-opt', options.get('-o', 'The option file'))
    # It is imported, since the error came from it.
    parser = sys.modules[PARAMS].ParlaiParser(True, True)
    near = find_nearest_name(key, (action.dest for action in parser._actions))
    return ConfigError(
        f'{optfile} sets {key!r}, which is no option of this command'
        f'{f" (did you mean {near!r}?)" if near else ""}. Remove it there, or give '
        '--allow-missing-init-opts true.'
    )


def _no_module(name: str) -> UnknownNameError:
    folder, _, last = name.rpartition('.')
    parent = sys.modules.get(folder)
    if parent is None:
        return UnknownNameError('module', name, [])
    names = {module.name for module in pkgutil.iter_modules(parent.__path__)}
    _, place, *inside = [*folder.split('.'), '']
    if place not in KINDS:
        return UnknownNameError(f'module in {folder}', last, names)
    # "transformer/generator" is parlai.agents.transformer.generator.
    before = '/'.join(inside)
    kind, registry = KINDS[place]
    names = {before + module for module in names}
    names |= {*getattr(sys.modules[LOADER], registry), *short_names(place)}
    return UnknownNameError(kind, before + last, names)


def _no_class(module: ModuleType, name: str) -> UnknownNameError:
    names: Iterable[str] = vars(module)
    kind = next((kind for kind in CLASSES if name.endswith(kind)), '')
    if kind:
        names = [attribute for attribute in names if attribute.endswith(kind)]
    kind = kind.lower() or 'class'
    return UnknownNameError(f'{kind} of {module.__name__}', name, names)
