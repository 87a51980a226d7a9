"""
Tells what was meant by a name (of a task, a teacher, an agent, a mutator, a scorer, a
preset or an option in a file) that there is not.
"""

import pkgutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType, ModuleType
from typing import Optional

from parlai_q2.cli.short_names import short_names
from parlai_q2.errors import ConfigError, UnknownNameError, nearest
from parlai_q2.presets import load_preset
from parlai_q2.scorers.registry import scorer_names
from parlai_q2.scorers.roles import NONE

SCORER_OPTIONS = ('--choose', '--measure', '--explain')
PRESET_OPTIONS = ('--preset', *(f'{name}-preset' for name in SCORER_OPTIONS))
# What modules in folders of these names are, and ParlAI's registry of others.
KINDS = {'tasks': ('task', 'TEACHER_REGISTRY'), 'agents': ('agent', 'AGENT_REGISTRY')}
LOADER, MUTATORS = 'parlai.core.loader', 'parlai.core.mutators'
PARAMS = 'parlai.core.params'


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
    given = {name for name, _ in options_of(arguments)}
    if not given & {option, '-o', '--init-opt'}:
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
def suggesting() -> Iterator[None]:
    """
    Suggest the nearest name where ParlAI finds none.

    :raises ConfigError: in place of ParlAI's error.
    """
    try:
        yield
    except (ImportError, AttributeError, KeyError, RuntimeError) as error:
        found = unknown_name(error)
        if found is None:
            raise
        raise found from error


def unknown_name(error: Exception) -> Optional[ConfigError]:
    """
    What an error says of a name that ParlAI looked for; None if it is another error,
    such as that of a module that was found and lacks a package.
    """
    frames = list(_frames(error))
    last = frames[-1] if frames else None
    if isinstance(error, ModuleNotFoundError) and error.name:
        wanted = [
            str(frame.f_locals.get('module_name'))
            for frame in frames
            if frame.f_globals.get('__name__') == LOADER
        ]
        if any(f'{name}.'.startswith(f'{error.name}.') for name in wanted):
            return _no_module(error.name)
    elif last and isinstance(error, AttributeError) and _is_of(last, LOADER):
        if isinstance(error.obj, ModuleType):
            return _no_class(error.obj, str(error.name))
    elif last and isinstance(error, KeyError) and _is_of(last, MUTATORS):
        known = last.f_globals['MUTATOR_REGISTRY']
        return UnknownNameError('mutator', str(error.args[0]), known)
    elif last and isinstance(error, RuntimeError) and _is_of(last, PARAMS):
        if last.f_code.co_name == '_load_opts':
            return _no_option(**last.f_locals)
    return None


def _no_option(
    optfile: str, key: str, opt: Mapping[str, object], **others: object
) -> ConfigError:
    near = nearest(key, (name for name in opt if not name.startswith('_')))
    return ConfigError(
        f'{optfile} sets {key!r}, which is no option of this command'
        f'{f" (is {near!r} meant?)" if near else ""}. Remove it there, or give '
        '--allow-missing-init-opts true.'
    )


def _no_module(name: str) -> UnknownNameError:
    folder, _, last = name.rpartition('.')
    there = sys.modules.get(folder)
    if there is None:
        return UnknownNameError('module', name, [])
    known = {found.name for found in pkgutil.iter_modules(there.__path__)}
    _, place, *inside = [*folder.split('.'), '']
    if place not in KINDS:
        return UnknownNameError(f'module in {folder}', last, known)
    # "transformer/generator" is parlai.agents.transformer.generator.
    before = '/'.join(inside)
    kind, registry = KINDS[place]
    names = {before + one for one in known} | {*getattr(sys.modules[LOADER], registry)}
    return UnknownNameError(kind, before + last, names.union(short_names(place)))


def _no_class(module: ModuleType, name: str) -> UnknownNameError:
    for kind in ('Teacher', 'Agent'):
        if name.endswith(kind):
            known = [one for one in vars(module) if one.endswith(kind)]
            return UnknownNameError(f'{kind.lower()} of {module.__name__}', name, known)
    return UnknownNameError(f'class of {module.__name__}', name, vars(module))


def _frames(error: Exception) -> Iterator[FrameType]:
    trace = error.__traceback__
    while trace is not None:
        yield trace.tb_frame
        trace = trace.tb_next


def _is_of(frame: FrameType, module: str) -> bool:
    return frame.f_globals.get('__name__') == module
