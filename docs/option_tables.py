"""
Writes the tables of options from the parsers: those of scorers and agents into
docs/reference/options.md, those of commands into docs/reference/commands.md. Run it
after changing an option::

    python docs/option_tables.py

The options of scorers, which agents and commands share, are in the table of
``scorers`` alone.
"""

import argparse
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from parlai.core.params import ParlaiParser
from parlai.core.script import SCRIPT_REGISTRY

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent))

from parlai_q2.agents.chat_server.chat_server import add_options as chat_server  # noqa: E402
from parlai_q2.agents.consistency.consistency import add_options as consistency  # noqa: E402
from parlai_q2.agents.ctranslate2.ctranslate2 import add_options as ctranslate2  # noqa: E402
from parlai_q2.agents.grounded_rerank.generator_class import add_rerank_options  # noqa: E402
from parlai_q2.agents.hf_classifier.hf_classifier import add_options as hf_classifier  # noqa: E402
from parlai_q2.agents.hf_seq2seq.hf_seq2seq import add_options as hf_seq2seq  # noqa: E402
from parlai_q2.cli.commands import GROUPS, Command, build_parser, import_command  # noqa: E402
from parlai_q2.cli.scorer_options import add_scorer_options  # noqa: E402
from parlai_q2.options import list_options  # noqa: E402
from parlai_q2.scorers.roles import Role  # noqa: E402


def scorers(parser: ParlaiParser) -> None:
    """The options that all scorers have, for one role."""
    add_scorer_options(parser, Role.MEASURE)


TABLES: dict[str, Callable[[ParlaiParser], Any]] = {
    'scorers': scorers,
    'chat_server': chat_server,
    'consistency': consistency,
    'ctranslate2': ctranslate2,
    'grounded_rerank': add_rerank_options,
    'hf_classifier': hf_classifier,
    'hf_seq2seq': hf_seq2seq,
}
NOTE = (
    '<!-- Written by docs/option_tables.py: change the help of the options instead. -->'
)
COMMANDS_HEAD = f"""\
{NOTE}

# Commands

These are the options of every command, as `parlai_q2 COMMAND --help` prints them.
Commands that run on ParlAI also have its options, such as `-t` and `-m`."""
OPTIONS_HEAD = f"""\
{NOTE}

# Options of scorers and agents

The table of scorers shows the options of `--measure`. Those of `--choose` are the same
with the other name, such as `--choose-preset`. `--explain` has only `--explain-preset`.
The agents `grounded_rerank` and `consistency` have the options of scorers, too."""
# The only default of several lines, which has no place in a table.
LONG_DEFAULT = '[a text](../agents/generators.md#models-behind-a-server)'
# ParlAI's script with other defaults: its options are ParlAI's and the agent's.
NOT_LISTED = ('interactive_web',)
OPTIONS_PAGE = DOCS / 'reference' / 'options.md'
COMMANDS_PAGE = DOCS / 'reference' / 'commands.md'
ROLES = tuple(f'--{role.value}' for role in Role)


def by_name(actions: Iterable[argparse.Action]) -> dict[str, argparse.Action]:
    """The options that ``--help`` shows, by their long names."""
    return {
        next(o for o in action.option_strings if o.startswith('--')): action
        for action in actions
        if action.option_strings and action.help != argparse.SUPPRESS
    }


def collect_options(add: Callable[[ParlaiParser], Any]) -> dict[str, argparse.Action]:
    """The options that a function adds to ParlAI's parser, by their names."""
    parser = ParlaiParser(False, False)
    before = set(list_options(parser))
    add(parser)
    return by_name(action for action in list_options(parser) if action not in before)


def omit_scorer_options(
    options: dict[str, argparse.Action],
) -> dict[str, argparse.Action]:
    """Leave out the options that all scorers share."""
    shared = {*collect_options(scorers)} - {'--measure'}
    prefixes = tuple(f'{role}-' for role in ROLES)
    return {
        option: action
        for option, action in options.items()
        if option not in shared and not option.startswith(prefixes)
    }


def table(name: str) -> str:
    """An agent's options, their defaults and what they are for, in Markdown."""
    options = collect_options(TABLES[name])
    return render(options if name == 'scorers' else omit_scorer_options(options))


def option_page() -> str:
    """The reference of the options that scorers and agents have."""
    parts = [OPTIONS_HEAD]
    for name in TABLES:
        parts += [f'## {name}', table(name).rstrip()]
    return '\n\n'.join(parts) + '\n'


def command_options(command: Command) -> dict[str, argparse.Action]:
    """The options of a command that ParlAI itself does not have."""
    left_out = {'--help'}
    if command.needs_parlai:
        import_command(command)
        parser = SCRIPT_REGISTRY[command.name].klass.setup_args()
        for action in list_options(ParlaiParser(True, True)):
            left_out.update(action.option_strings)
    else:
        parser = build_parser(command)
    return by_name(
        action
        for action in list_options(parser)
        if not left_out.intersection(action.option_strings)
    )


def command_page() -> str:
    """The reference of the commands."""
    parts = [COMMANDS_HEAD]
    for commands in GROUPS.values():
        for command in commands:
            if command.name in NOT_LISTED:
                continue
            options = command_options(command)
            text = f'{command.what}.'
            if options.keys() & set(ROLES):
                text += ' It also has the [options of scorers](options.md#scorers).'
                options = omit_scorer_options(options)
            parts += [f'## {command.name}', text, render(options).rstrip()]
    return '\n\n'.join(parts) + '\n'


def render(options: dict[str, argparse.Action]) -> str:
    """A table of options."""
    rows = ['| option | default | |', '|---|---|---|']
    for option, action in options.items():
        text = re.sub(r'\s+', ' ', action.help or '').replace('|', '&#124;')
        # Pages link to them.
        text = re.sub(r': one of bertscore, .* or module:Class', '', text)
        rows.append(f'| `{option}` | {format_default(action.default)} | {text} |')
    return '\n'.join(rows) + '\n'


def format_default(default: Any) -> str:
    """A default as it is typed."""
    if default in (None, ''):
        return ''
    text = str(default).lower() if isinstance(default, bool) else str(default)
    return LONG_DEFAULT if '\n' in text else f'`{text}`'


def main() -> None:
    """Write both pages."""
    OPTIONS_PAGE.write_text(option_page(), 'utf-8')
    COMMANDS_PAGE.write_text(command_page(), 'utf-8')


if __name__ == '__main__':
    main()
