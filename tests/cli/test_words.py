"""One word for one thing in all commands, as CONTRIBUTING.md's table has them."""

import argparse
import re
from collections import defaultdict

from parlai.core.params import ParlaiParser
from parlai.core.script import SCRIPT_REGISTRY

from parlai_q2.agents.grounded_rerank.wrapped_generator import add_rerank_options
from parlai_q2.cli.commands import COMMANDS, build_parser, import_command
from tests.conftest import ROOT

ROW = re.compile(r'^\| `(--[a-z-]+)`[^|]*\| (\w+)', re.MULTILINE)
# What the table calls the types of values.
KINDS = {None: 'text', 'str': 'text', 'int': 'count', 'float': 'number', 'bool': 'true'}
# The host's own.
SWITCHES = {'--help', '--h', '--verbose', '--quiet', '--n'}
# Commands of ours that are ParlAI's scripts, with its options besides ours.
ON_PARLAI = ('filter', 'distill', 'conditions')


def table():
    page = (ROOT / 'CONTRIBUTING.md').read_text('utf-8')
    part = page.partition('## Words of commands')[2].partition('\n## ')[0]
    return dict(ROW.findall(part))


def options():
    """The kinds of value of each option, with the commands that have it."""
    parsers = {n: build_parser(c) for n, c in COMMANDS.items() if not c.needs_parlai}
    parsers['agent'] = ParlaiParser(False, False)
    add_rerank_options(parsers['agent'])
    for name in ON_PARLAI:
        import_command(COMMANDS[name])
        parsers[name] = SCRIPT_REGISTRY[name].klass.setup_args()
    theirs = {w for a in ParlaiParser(True, True)._actions for w in a.option_strings}
    switches = defaultdict(lambda: defaultdict(list))
    for command, parser in parsers.items():
        for action in parser._actions:
            if command in ON_PARLAI and theirs & {*action.option_strings}:
                continue
            for word in action.option_strings:
                if word.startswith('--') and action.help != argparse.SUPPRESS:
                    kind = getattr(action.type, '__name__', action.type)
                    switches[word][kind].append((command, action))
    return switches


def test_a_word_of_several_commands_is_in_the_table_and_the_table_has_no_other():
    switches, documented = options(), table()
    several = {
        word
        for word, kinds in switches.items()
        if len({name for of in kinds.values() for name, _ in of}) > 1
    } - SWITCHES
    assert len(documented) > 10
    assert several - set(documented) == set()
    assert set(documented) - set(switches) == set()


def test_a_word_takes_the_same_in_every_command():
    switches = options()
    for word, kind in table().items():
        assert {KINDS.get(name, 'text') for name in switches[word]} == {kind}, word


def test_every_switch_takes_true_or_false():
    for word, kinds in options().items():
        for command, action in (pair for of in kinds.values() for pair in of):
            flag = isinstance(action, (argparse._StoreTrueAction,))
            assert not flag or word in SWITCHES or command == 'agent', (command, word)
