"""
Our commands by name. A command is a module ``parlai_q2.scripts.<name>``.

One that does not need ParlAI has ``add_options(parser)`` and ``run(opt)``, which takes
the options as a dict. It imports nothing heavy at its top and checks its arguments
before it loads a model. One that needs ParlAI is a ``ParlaiScript``.
"""

from dataclasses import dataclass
from importlib import import_module
from itertools import chain
from logging import CRITICAL, DEBUG, INFO
from typing import Any

from parlai_q2.cli.log import show_log
from parlai_q2.cli.parser import Parser
from parlai_q2.errors import UnknownNameError

# Put before a command's name where it might be another program's.
PREFIX = 'q2_'
# ParlAI's list of all its commands, and of their options.
HELPALL = 'helpall'


@dataclass(frozen=True)
class Command:
    """A command, whose module has its name, and in a line what it does."""

    name: str
    what: str
    needs_parlai: bool = False


# By what they are for, as the help shows them.
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
        Command('multiprocessing_eval', 'Evaluate a model in several processes', True),
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
    """
    Run a command that does not need ParlAI; further options come as Python values.
    """
    command = find(name)
    if command is None or command.needs_parlai:
        plain = [c.name for c in COMMANDS.values() if not c.needs_parlai]
        raise UnknownNameError('command without ParlAI', name, plain)
    opt = build_parser(command).with_values(arguments, **values)
    show_log(CRITICAL if opt['quiet'] else DEBUG if opt['verbose'] else INFO)
    return import_command(command).run(opt)


def listing(starred: bool) -> str:
    """Our commands by group; a star may mark those that need ParlAI."""
    width = max(map(len, COMMANDS)) + 2 * starred
    lines = []
    for group, commands in GROUPS.items():
        lines.append(f'{group}:\n')
        for command in commands:
            star = ' *' if starred and command.needs_parlai else ''
            lines.append(f'  {command.name + star:<{width}}  {command.what}\n')
    return ''.join(lines)
