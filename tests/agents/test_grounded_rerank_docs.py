"""
Every command of the agent's page runs, on small models where it names none.
"""

import builtins
import re
import shlex
import shutil
from pathlib import Path

import pytest
from parlai.core.script import superscript_main

from parlai_q2.agents.grounded_rerank.commands import HELP
from tests.agents.rerank_toys import trained_generator

PAGE = Path(__file__).parents[2] / 'docs' / 'agents' / 'grounded_rerank.md'
TEXT = PAGE.read_text(encoding='utf-8')
COMMANDS = [
    shlex.split(block.replace('\\\n', ' '))
    for block in re.findall(r'```bash\n(.*?)```', TEXT, re.DOTALL)
]
SHORTER = {
    'eval_model': ['--num-examples', '2'],
    'self_chat': ['--selfchat-max-turns', '2'],
    'interactive': [],
}


@pytest.mark.parametrize('command', COMMANDS, ids=lambda c: ' '.join(c[1:4]))
def test_a_documented_command_runs(command, tmp_path, monkeypatch):
    model = Path(trained_generator())
    for file in model.parent.iterdir():
        shutil.copy(file, tmp_path / file.name.replace(model.name, 'model'))
    (tmp_path / 'knowledge.txt').write_text('1 2 3 4', encoding='utf-8')
    monkeypatch.chdir(tmp_path)
    lines = iter(['/knowledge 1 2', '2 1'])
    monkeypatch.setattr(builtins, 'input', lambda prompt='': next(lines, '[EXIT]'))
    name, *arguments = command[1:]
    superscript_main([name, *arguments, *SHORTER[name], '--text-truncate', '32'])
    if '--world-logs' in command:
        assert (tmp_path / 'logs.jsonl').exists()


def test_the_page_shows_the_commands_of_a_chat_as_help_does():
    assert HELP in TEXT


def test_the_page_names_every_option():
    from parlai.core.params import ParlaiParser

    from parlai_q2.agents.grounded_rerank.options import add_rerank_options

    parser = ParlaiParser(False, False)
    before = set(parser._option_string_actions)
    add_rerank_options(parser)
    added = set(parser._option_string_actions) - before
    own = {o for o in added if not o.startswith(('--scorer-', '--preset'))}
    assert {o for o in own if f'`{o}' not in TEXT} == set()
