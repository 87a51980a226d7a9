"""
``make`` builds the environment when it must, and only then. A stand-in for Python notes
what it is told, so that nothing is installed.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(not shutil.which('make'), reason='there is no make')

# `-m venv DIR` copies it to DIR/bin/python; arguments that match $FAIL fail.
FAKE_PYTHON = """#!/usr/bin/env bash
echo "$*" >> "$LOG"
if [[ -n "${FAIL:-}" && "$*" == *$FAIL* ]]; then exit 3; fi
if [[ "$1 $2" == '-m venv' ]]; then
    mkdir -p "$3/bin"
    for name in python parlai_q2 ruff mypy; do cp "$0" "$3/bin/$name"; done
fi
if [[ "$1" == '-VV' ]]; then echo "Python ${VERSION:-3.11.0}"; fi
"""
PARLAI = 'parlai_q2/parlai/requirements.txt'
TWO_AT_ONCE = '-m pytest -n 2 --dist loadfile --no-loadscope-reorder'


@pytest.fixture
def make(tmp_path):
    """Runs a target in a copy of the set-up, and returns what Python was told."""
    for name in ('Makefile', 'setup.py', 'pyproject.toml'):
        shutil.copy(ROOT / name, tmp_path)
    for name in ('requirements', '.ci'):
        shutil.copytree(ROOT / name, tmp_path / name)
    (tmp_path / PARLAI).parent.mkdir(parents=True)
    shutil.copy(ROOT / PARLAI, tmp_path / PARLAI)
    python = tmp_path / 'fake-python'
    python.write_text(FAKE_PYTHON)
    python.chmod(0o755)
    log = tmp_path / 'log'

    def run(*words: str, fails: bool = False, command: str = 'make', **variables: str):
        log.write_text('')
        # These tests may run under make themselves.
        outer = ('MAKE', 'MFLAGS', 'PYTEST', 'TORCH', 'PYTHON', 'WORKERS')
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(outer)}
        own = {'LOG': str(log), 'PYTHON': str(python), 'CORE_PYTHONS': ''}
        environment = {**inherited, **own, **variables}
        completed = subprocess.run(
            [command, *words],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert (completed.returncode != 0) == fails, completed.stdout + completed.stderr
        return [line for line in log.read_text().splitlines() if line != '-VV']

    run.folder = tmp_path
    return run


def builds(commands: list[str]) -> bool:
    """Whether an environment was made."""
    return '-m venv .venv' in commands


def test_the_first_run_builds_and_so_does_one_after_a_requirement_changed(make):
    commands = make('test')
    assert builds(commands)
    assert commands[-1] == TWO_AT_ONCE
    assert make('test') == [TWO_AT_ONCE], 'a second run builds nothing'
    for name in ('requirements/lock.txt', PARLAI, 'setup.py'):
        path = make.folder / name
        path.write_text(path.read_text() + '# changed\n')
        assert builds(make('test')), name


@pytest.mark.parametrize(
    'step',
    ['-r requirements/build.txt', '-r requirements/lock.txt', 'torch==', '--editable'],
)
def test_a_build_that_stopped_half_way_starts_over(make, step):
    make('test', fails=True, FAIL=step)
    (make.folder / '.venv' / 'left_over').touch()
    assert builds(make('test'))
    assert not (make.folder / '.venv' / 'left_over').exists()
