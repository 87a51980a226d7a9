"""
Every command and every piece of code in the documentation of the tasks.
"""

import re
import shlex
from pathlib import Path

import pytest
from parlai.core.script import superscript_main

import parlai_q2.tasks.task_list as task_list
from parlai_q2.parlai_support.q2_teacher import Q2TeacherMixin
from tests.tasks.wow_files import write_wizard_of_wikipedia

ROOT = Path(task_list.__file__).parents[1]
PAGES = sorted([*ROOT.glob('tasks/*/README.md'), *ROOT.glob('docs/tasks/*.md')])


def blocks(language):
    """
    The fenced blocks in a language, with the page that each is on.
    """
    for page in PAGES:
        text = page.read_text(encoding='utf-8')
        for block in re.findall(rf'```{language}\n(.*?)```', text, re.DOTALL):
            yield page, block


COMMANDS = sorted({line for _, b in blocks('bash') for line in b.splitlines() if line})
LINKS = [
    (page, link)
    for page in PAGES
    for link in re.findall(r'\]\((?!http)([^)#]+)\)', page.read_text(encoding='utf-8'))
]


@pytest.fixture
def data(datapath, monkeypatch):
    monkeypatch.chdir(datapath)
    write_wizard_of_wikipedia(datapath)


def test_there_is_something_to_run():
    assert len(COMMANDS) >= 8 and LINKS


@pytest.mark.parametrize('command', COMMANDS)
def test_a_command_runs(data, command, capsys):
    program, *arguments = shlex.split(command)
    assert program == 'parlai'
    if 'Classification' not in command:
        # The same command with a scorer that needs no models.
        arguments += ['--scorer', 'overlap']
    superscript_main(arguments)
    out = capsys.readouterr().out
    if arguments[0] == 'eval_model':
        assert ('overlap' in out) != ('Classification' in command)
    else:
        assert out.count('\n') >= 3


@pytest.mark.parametrize('block', [b for _, b in blocks('python')])
def test_the_code_runs(data, block):
    scope = {'__name__': 'of_the_docs'}
    exec(block, scope)
    assert issubclass(scope['DefaultTeacher'], Q2TeacherMixin)


@pytest.mark.parametrize('page, link', LINKS, ids=lambda x: str(x)[-40:])
def test_a_link_leads_somewhere(page, link):
    assert (page.parent / link).exists()
