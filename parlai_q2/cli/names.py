"""
Short names for parlai_q2's agents and tasks: ``-m q2:grounded_rerank``, ``-t q2:wow``.

They are expanded before ParlAI parses anything: plain ``parlai`` finds the dotted name
in a saved ``.opt``, too. The leading ``q2_`` of a task's name may be omitted.

    q2:hf_seq2seq      parlai_q2.agents.hf_seq2seq.hf_seq2seq:HfSeq2seqAgent
    q2:folder/variant  parlai_q2.agents.folder.variant:VariantAgent
    q2:wow             parlai_q2.tasks.q2_wow.agents
    q2:begin:wow       parlai_q2.tasks.begin.agents:WowTeacher

A task, agent, teacher, mutator or option that does not exist is answered with the
nearest name.
"""

import pkgutil
import re
import sys
from collections.abc import Iterable, Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from parlai_q2.errors import ConfigError, UnknownNameError, find_nearest_name
from parlai_q2.options import list_options, long_names

PREFIX = 'q2:'
TASK_PREFIX = 'q2_'
TEACHER = 'Teacher'

# The options whose values are agents or tasks, and their keys in an Opt: those of
# ParlAI, and the reranking agent's --generator.
AGENT_OPTIONS = ('-m', '--model', '--generator')
# With one of these options, the agent is known, or the user asks for help.
AGENT_KNOWN = frozenset(
    'm model mf model-file im init-model o init-opt h help helpall'.split()
)
CHATS = ('interactive', 'interactive_web')
DEFAULT_AGENT = 'grounded_rerank'
TASK_OPTIONS = ('-t', '--task', '-et', '--evaltask')
AGENT_KEYS = ('model', 'generator')
TASK_KEYS = ('task', 'evaltask')
# The kind of the modules in each folder, and ParlAI's registry of further ones.
KINDS = {'tasks': ('task', 'TEACHER_REGISTRY'), 'agents': ('agent', 'AGENT_REGISTRY')}
LOADER, MUTATORS = 'parlai.core.loader', 'parlai.core.mutators'
PARAMS = 'parlai.core.params'
# The packages in which ParlAI looks for tasks and agents.
PLACES = re.compile(r'parlai(_q2|_internal)?\.(tasks|agents)\.')
CLASSES = ('Teacher', 'Agent')
# The parser's message about options that a command does not have.
UNRECOGNIZED = 'unrecognized arguments: '
# ParlAI's message about a key in an option file that is not an option.
NO_OPTION = 'Trying to set opt from file that does not exist: '


def with_agent(arguments: Sequence[str]) -> list[str]:
    """A command with its options, and with the reranking agent if a chat names none."""
    options = [a.partition('=')[0] for a in arguments[1:] if a.startswith('-')]
    names = {option.lstrip('-').replace('_', '-') for option in options}
    if arguments[0] not in CHATS or names & AGENT_KNOWN:
        return list(arguments)
    return [*arguments, '-m', PREFIX + DEFAULT_AGENT]


def expand_arguments(arguments: Sequence[str]) -> list[str]:
    expanded: list[str] = []
    for argument in arguments:
        option, equals, value = argument.partition('=')
        if equals and option.startswith('-'):
            expanded.append(f'{option}={_expand_value(option, value)}')
        else:
            expanded.append(_expand_value(expanded[-1] if expanded else '', argument))
    return expanded


def expand_opt(opt: Any) -> Any:
    """Expand the short names in ParlAI options, in place; return them."""
    values: MutableMapping[str, Any] = opt
    for keys, expand in ((AGENT_KEYS, expand_agent), (TASK_KEYS, expand_tasks)):
        for key in keys:
            if isinstance(values.get(key), str) and PREFIX in values[key]:
                values[key] = expand(values[key])
    return opt


def expand_agent(name: str) -> str:
    """
    The dotted name of an agent such as ``q2:grounded_rerank``; others are unchanged.
    """
    if not name.startswith(PREFIX):
        return name
    folder, _, variant = name[len(PREFIX) :].partition('/')
    if folder not in agents():
        raise UnknownNameError('agent', name, _prefixed(agents()))
    module = variant or folder
    return f'parlai_q2.agents.{folder}.{module}:{camel_case(module)}Agent'


def expand_tasks(names: str) -> str:
    """The dotted names of comma-separated tasks; those without the prefix stay."""
    return ','.join(_expand_task(name) for name in names.split(','))


@cache
def agents() -> list[str]:
    paths = _folder('agents').glob('*/*.py')
    return sorted(path.stem for path in paths if path.stem == path.parent.name)


@cache
def tasks() -> dict[str, str]:
    """The tasks' modules by short name."""
    names = sorted(path.parent.name for path in _folder('tasks').glob('*/agents.py'))
    return {
        name.removeprefix(TASK_PREFIX): f'parlai_q2.tasks.{name}.agents'
        for name in names
    }


def _folder(kind: str) -> Path:
    return Path(import_module(f'parlai_q2.{kind}').__path__[0])


def _expand_value(option: str, value: str) -> str:
    if PREFIX not in value:
        return value
    # ParlAI allows _ for - in an option, and argparse any unambiguous prefix of it.
    option = option.replace('_', '-')
    if option in AGENT_OPTIONS:
        return expand_agent(value)
    is_prefix = any(full.startswith(option) for full in TASK_OPTIONS)
    is_task = option in TASK_OPTIONS or (len(option) > 2 and is_prefix)
    return expand_tasks(value) if is_task else value


def _expand_task(name: str) -> str:
    if not name.strip().startswith(PREFIX):
        return name
    task, *rest = name.strip()[len(PREFIX) :].split(':')
    module = tasks().get(task.lower().removeprefix(TASK_PREFIX))
    if module is None:
        raise UnknownNameError('task', PREFIX + task, _prefixed(tasks()))
    if rest and '=' not in rest[0]:
        # ParlAI completes a teacher's name only if the task's name is not dotted.
        name = camel_case(rest[0])
        rest[0] = name if TEACHER in name else f'{name}{TEACHER}'
    return ':'.join([module, *rest])


def camel_case(name: str) -> str:
    return ''.join(word[:1].upper() + word[1:] for word in name.split('_'))


def short_names(place: str) -> list[str]:
    return _prefixed(agents() if place == 'agents' else tasks())


def _prefixed(names: Iterable[str]) -> list[str]:
    return [PREFIX + name for name in names]


def find_options(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Find the options that have a value in arguments, with the value."""
    for argument, after in zip(arguments, [*arguments[1:], '-']):
        option, equals, value = argument.partition('=')
        if option.startswith('-'):
            value = value if equals else after
            if not value.startswith('-'):
                yield option.replace('_', '-'), value


@contextmanager
def suggesting_options() -> Iterator[None]:
    """Suggest the nearest option instead of pages of help, for ParlAI's commands."""
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
        raise UnknownNameError('option', name, long_names(command))

    parser_class.error = error
    try:
        yield
    finally:
        parser_class.error = original


@contextmanager
def suggesting(arguments: Sequence[str]) -> Iterator[None]:
    """Suggest the nearest name if ParlAI does not find one that the user typed."""
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
            str(error).removeprefix(NO_OPTION), dict(find_options(arguments))
        )
    return None


def _no_option(key: str, options: dict[str, str]) -> ConfigError:
    optfile = options.get('--init-opt', options.get('-o', 'The option file'))
    # The module is imported already, because the error came from it.
    parser = sys.modules[PARAMS].ParlaiParser(True, True)
    near = find_nearest_name(key, (action.dest for action in list_options(parser)))
    return ConfigError(
        f'{optfile} sets {key!r}, which is not an option of this command'
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
