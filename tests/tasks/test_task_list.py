"""
The list of tasks.
"""

from pathlib import Path

import pytest
from parlai.core.loader import load_teacher_module

import parlai_q2.tasks.task_list as module
from parlai_q2.tasks.task_list import task_list

FOLDERS = sorted(
    p.parent.name for p in Path(module.__file__).parent.glob('*/agents.py')
)


@pytest.mark.parametrize('entry', task_list, ids=lambda e: e['id'])
def test_an_entry_names_a_task_that_loads(entry):
    assert load_teacher_module(entry['task']).__name__ == 'DefaultTeacher'
    assert {'id', 'display_name', 'task', 'tags', 'description'} <= set(entry)


def test_every_task_is_listed_once():
    listed = sorted(entry['task'].split('.')[2] for entry in task_list)
    assert listed == FOLDERS


@pytest.mark.parametrize('folder', FOLDERS)
def test_every_task_has_a_readme(folder):
    readme = Path(module.__file__).parent / folder / 'README.md'
    assert readme.read_text(encoding='utf-8').startswith('# ')
