"""
Checks the names of ParlAI's that arguments hold (tasks, teachers, agents, mutators)
before anything is imported, among the files that ParlAI would import.
"""

import ast
import re
import sys
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Iterator, Optional, Sequence

from parlai_q2.cli.short_names import AGENT_OPTIONS, TASK_OPTIONS, TEACHER, camel_case
from parlai_q2.errors import ConfigError, UnknownNameError
from parlai_q2.presets import load_preset
from parlai_q2.scorers.registry import scorer_names
from parlai_q2.scorers.roles import NONE

SCORER_OPTIONS = ('--choose', '--measure', '--explain')
PRESET_OPTIONS = ('--preset', *(f'{name}-preset' for name in SCORER_OPTIONS))
MUTATOR_OPTIONS = ('--mutators', '-mut')
# Names with these prefixes are of repositories whose layout is their own.
PREFIXES = ('internal:', 'fb:', 'light:', 'projects:', '#')


def check_names(arguments: Sequence[str]) -> None:
    """
    Check all names in a command's arguments, without short names (``q2:...``).

    :raises UnknownNameError: for the first that does not exist; suggests the nearest.
    """
    for option, value in options_of(arguments):
        if option in SCORER_OPTIONS and ':' not in value:
            if value not in (*scorer_names(), NONE):
                raise UnknownNameError('scorer', value, scorer_names())
        elif option in PRESET_OPTIONS:
            load_preset(value)
        if option in TASK_OPTIONS:
            for task in value.split(','):
                check_task(task.strip())
        elif option in AGENT_OPTIONS:
            check_agent(value)
        elif option in MUTATOR_OPTIONS:
            for name in filter(None, re.split('[+,]', value)):
                if name not in mutators():
                    raise UnknownNameError('mutator', name, mutators())


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


def check_task(task: str) -> None:
    """Check a task string, e.g. ``babi:task10k:1``."""
    name, *words = task.split(':')
    if not name or task.startswith(PREFIXES) or task in registered_here('TEACHER'):
        return
    if not words and name.lower().replace('-', '') in listed_tasks():
        return
    if '.' in name:
        path = check_module('task', name)
    else:
        files = (folder_of('parlai') / 'tasks').glob('*/agents.py')
        known = sorted(file.parent.name for file in files)
        if name.lower() not in known:
            raise UnknownNameError('task', name, known)
        path = folder_of('parlai') / 'tasks' / name.lower() / 'agents.py'
    if path and words and '=' not in words[0] and words[0]:
        check_teacher(name, path, words[0])


def check_teacher(task: str, path: Path, word: str) -> None:
    """Check a teacher's name by the classes in a task's file."""
    there = classes(path)
    name = word[:1].upper() + word[1:]
    if '.' not in task and TEACHER not in name:
        name = camel_case(word) + TEACHER
    if there is not None and name not in there:
        known = [c for c in there if c.endswith(TEACHER)]
        raise UnknownNameError(f'teacher of {task}', name, known)


def check_agent(agent: str) -> None:
    """Check an agent, e.g. ``transformer/generator`` or ``my.module:MyAgent``."""
    if agent.startswith(PREFIXES):
        return
    module, colon, name = agent.partition(':')
    if colon:
        path = check_module('agent', module)
        there = classes(path) if path else None
        if there is not None and name not in there:
            raise UnknownNameError(f'agent in {module}', name, there)
        return
    folder, _, variant = agent.partition('/')
    files = [f'{variant or folder}.py', *([] if variant else ['agents.py'])]
    place = folder_of('parlai') / 'agents' / folder
    if not any((place / file).is_file() for file in files):
        registered = _called('register_agent', place.parent)
        if agent not in registered | registered_here('AGENT'):
            raise UnknownNameError('agent', agent, agents())


def check_module(kind: str, name: str) -> Optional[Path]:
    """The file of a dotted module; None if it cannot be told without an import."""
    top, *rest = name.split('.')
    if find_spec(top) is None:
        raise UnknownNameError(f'{kind}, since there is no module', top, [])
    path = folder_of(top)
    if not path.is_dir():
        return path if path.is_file() and not rest else None
    for part in rest:
        if not (path / part).is_dir() and not (path / f'{part}.py').is_file():
            known = [p.stem for p in path.iterdir() if p.suffix in ('', '.py')]
            raise UnknownNameError(f'{kind} {name}: {path.name} has no', part, known)
        path = path / part
    return path.with_suffix('.py') if path.with_suffix('.py').is_file() else None


def classes(path: Path) -> Optional[set[str]]:
    """The names that a file defines or imports; None if it may make others."""
    text = path.read_text(encoding='utf-8')
    found = {'*'} if 'globals()' in text or 'setattr(' in text else set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.ImportFrom):
            found |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Assign):
            found |= {t.id for t in node.targets if isinstance(t, ast.Name)}
    return None if '*' in found else found


def folder_of(package: str) -> Path:
    """The folder of an installed package, or the file of a module."""
    spec = find_spec(package)
    assert spec is not None
    return Path((spec.submodule_search_locations or [spec.origin or ''])[0])


def agents() -> list[str]:
    """ParlAI's agents, as ``-m`` names them."""
    found = []
    for path in (folder_of('parlai') / 'agents').glob('*/*.py'):
        if f'{camel_case(path.stem)}Agent' in path.read_text(encoding='utf-8'):
            folder = path.parent.name
            found.append(folder if path.stem == folder else f'{folder}/{path.stem}')
    return sorted(found)


def registered_here(kind: str) -> set[str]:
    """The agents (``AGENT``) or teachers that a program has registered with ParlAI."""
    loader = sys.modules.get('parlai.core.loader')
    return set(getattr(loader, f'{kind}_REGISTRY', ()))


def mutators() -> frozenset[str]:
    """The names of all mutators."""
    places = [folder_of('parlai') / 'mutators']
    places.append(folder_of('parlai_q2') / 'parlai' / 'mutators')
    if find_spec('parlai_internal'):
        places.append(folder_of('parlai_internal') / 'mutators')
    return frozenset().union(*(_called('register_mutator', p) for p in places))


def listed_tasks() -> frozenset[str]:
    """The ids and tags of ParlAI's list of tasks, in lower case."""
    text = (folder_of('parlai') / 'tasks' / 'task_list.py').read_text('utf-8')
    ids = re.findall(r'["\']id["\']: ["\']([^"\']+)', text)
    return frozenset(i.lower().replace('-', '') for i in ids)


@lru_cache(maxsize=None)
def _called(register: str, folder: Path) -> frozenset[str]:
    call = re.compile(rf'@{register}\(\s*["\']([^"\']+)')
    return frozenset(
        name
        for path in folder.rglob('*.py')
        for name in call.findall(path.read_text(encoding='utf-8'))
    )
