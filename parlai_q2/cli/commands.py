"""
Our commands by name; and, without loading ParlAI, whether it is installed, how to
install it, and which commands it has. A command of ours is a module
``parlai_q2.scripts.<name>``.

One that does not need ParlAI has ``add_options(parser)`` and ``run(opt)``, which takes
the options as a dict. It imports nothing heavy at its top and checks its arguments
before it loads a model. One that needs ParlAI is a ``ParlaiScript``.
"""

import re
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from logging import CRITICAL, DEBUG, INFO
from pathlib import Path
from typing import Any

from parlai_q2.cli.log import show_log
from parlai_q2.cli.parser import Parser
from parlai_q2.errors import MissingPackageError, UnknownNameError
from parlai_q2.packages import check_torch

# The prefix of a command's name where it might be another program's.
PREFIX = 'q2_'
# ParlAI's list of all its commands, and of their options.
HELPALL = 'helpall'
# The versions that were tested together, installed with the package.
REQUIREMENTS = Path(__file__).resolve().parent.parent / 'parlai' / 'requirements.txt'
# The ParlAI commands with which its guide starts.
FIRST = (
    'display_data',
    'display_model',
    'eval_model',
    'train_model',
    'interactive',
    'self_chat',
    'safe_interactive',
)
REGISTERED = re.compile(
    r'@register_script\(\s*["\'](\w+)["\'](?:,\s*aliases=\[([^]]*)\])?'
)


@dataclass(frozen=True)
class Command:
    """A command, with the name of its module, and a line about what it does."""

    name: str
    what: str
    needs_parlai: bool = False


# Commands by their purpose, in the order of the help.
GROUPS = {
    'Score and choose': (
        Command('demo', 'See scoring and reranking at work, offline'),
        Command('score', 'Score responses against their knowledge'),
        Command('rerank', 'Rerank the candidates in a file'),
        Command('serve', 'Answer chat clients with the best grounded reply'),
        Command('report', 'Write a page with scores and their evidence'),
        Command('cache', 'Show or clear the cache of scores'),
    ),
    'Find knowledge': (
        Command('index', 'Index documents to ground replies in'),
        Command('retrieve', 'Search an index, or measure its recall'),
    ),
    'Make training data': (
        Command('filter', 'Keep the grounded turns of a task', True),
        Command('distill', 'Write the best replies to train on', True),
        Command('pairs', 'Write preferred and rejected replies for DPO'),
    ),
    'Measure': (
        Command('meta_eval', "Compare scorers with people's annotations"),
        Command('calibrate', 'Fit the prior and threshold to your labelled pairs'),
        Command(
            'conditions', 'Compare replies on given and on retrieved knowledge', True
        ),
        Command('bench', 'Time scoring and reranking'),
    ),
    'Chat and evaluate models': (
        Command('interactive_web', 'Chat in the browser, with evidence', True),
    ),
}
COMMANDS = {command.name: command for command in chain.from_iterable(GROUPS.values())}


def find(name: str) -> Command | None:
    """The command of a name; None if it is not ours."""
    return COMMANDS.get(name.removeprefix(PREFIX))


def build_parser(command: Command) -> Parser:
    parser = Parser(command.name, command.what)
    import_command(command).add_options(parser)
    return parser


def import_command(command: Command) -> Any:
    return import_module(f'parlai_q2.scripts.{command.name}')


def run_command(name: str, *arguments: str, **values: object) -> Any:
    """Run a command that does not need ParlAI; ``values`` are further options."""
    command = find(name)
    if command is None or command.needs_parlai:
        plain = [c.name for c in COMMANDS.values() if not c.needs_parlai]
        raise UnknownNameError('command without ParlAI', name, plain)
    opt = build_parser(command).with_values(arguments, **values)
    show_log(CRITICAL if opt['quiet'] else DEBUG if opt['verbose'] else INFO)
    return import_command(command).run(opt)


@cache
def parlai_commands() -> dict[str, str]:
    """
    The names and aliases of ParlAI's commands, read from its files, and the module of
    each; empty if ParlAI is not installed.
    """
    spec = find_spec('parlai')
    modules: dict[str, str] = {}
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for path in sorted(Path(folder, 'scripts').glob('*.py')):
            for name, aliases in REGISTERED.findall(path.read_text(encoding='utf-8')):
                names = [name, *re.findall(r'\w+', aliases)]
                modules |= dict.fromkeys(names, f'parlai.scripts.{path.stem}')
    return modules


def check_known(name: str) -> None:
    """Check that a command exists; if not, suggest the nearest."""
    theirs = parlai_commands()
    if name in theirs:
        return
    if name in (*FIRST, HELPALL):
        check_parlai(name)
        return
    raise UnknownNameError('command', name, [*COMMANDS, *theirs])


def has_parlai() -> bool:
    return find_spec('parlai') is not None


def check_parlai(what: str) -> None:
    """Check that ParlAI and torch are installed; the error says what to run."""
    if not has_parlai():
        raise MissingPackageError(f'{what} needs ParlAI. {how_to_install()}')
    check_torch(what)


def how_to_install() -> str:
    return f'Run: python -m pip install --no-deps -r {REQUIREMENTS}'


def help_text() -> str:
    """All commands; without ParlAI, a star marks those that need it."""
    starred = not has_parlai()
    width = max(map(len, COMMANDS)) + 2 * starred
    ours = ''
    for group, commands in GROUPS.items():
        ours += f'{group}:\n'
        for command in commands:
            star = ' *' if starred and command.needs_parlai else ''
            ours += f'  {command.name + star:<{width}}  {command.what}\n'
    if not starred:
        theirs = (
            'Commands of ParlAI, where -m and -t take the short names (q2:...):\n'
            f'  {", ".join(FIRST)}, ...\n  All of them: parlai_q2 {HELPALL}\n'
        )
    else:
        theirs = f'*: needs ParlAI. {how_to_install()}\n'
    return (
        'usage: parlai_q2 COMMAND ...\n'
        '       parlai_q2 COMMAND --help   its options\n'
        '       parlai_q2 --version\n\n'
        f'{ours}\n{theirs}'
    )
