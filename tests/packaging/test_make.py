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
    for name in python parlai_q2; do cp "$0" "$3/bin/$name"; done
fi
if [[ "$1" == '-VV' ]]; then echo "Python ${VERSION:-3.11.0}"; fi
"""
PARLAI = 'parlai_q2/parlai/requirements.txt'
TWO_AT_ONCE = '-m pytest -n 2 --dist loadfile --no-loadscope-reorder'


@pytest.fixture
def make(tmp_path):
    """
    Runs a target in a copy of the project's set-up, and returns what Python was told.
    """
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
        environment = {**inherited, 'LOG': str(log), 'PYTHON': str(python), **variables}
        done = subprocess.run(
            [command, *words],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert (done.returncode != 0) == fails, done.stdout + done.stderr
        return [line for line in log.read_text().splitlines() if line != '-VV']

    run.folder = tmp_path
    return run


def builds(told: list[str]) -> bool:
    """Whether an environment was made."""
    return '-m venv .venv' in told


def test_the_first_run_builds_and_then_does_its_work(make):
    told = make('test')
    assert builds(told)
    installs = [line for line in told if ' install ' in line]
    locked = f'lock.txt -r {PARLAI}'
    files = ['build.txt', locked, 'torch==2.13.0', 'test.txt', '--editable .']
    assert len(installs) == len(files)
    for line, file in zip(installs, files):
        assert line.endswith(file)
    assert told[-1] == TWO_AT_ONCE


def test_what_is_pinned_is_installed_by_hash_and_without_asking_parlai(make):
    for line in make('venv'):
        if line.endswith('.txt'):
            assert '--require-hashes' in line and '--no-deps' in line


def test_a_second_run_builds_nothing(make):
    make('test')
    assert make('test') == [TWO_AT_ONCE]


def test_what_one_asks_of_the_tests_comes_last_and_so_counts(make):
    make('venv')
    for wanted in ('tests/q2 -x', '-n 0'):
        assert make('test', f'PYTEST_ARGS={wanted}') == [f'{TWO_AT_ONCE} {wanted}']
    assert make('test', 'WORKERS=7') == [TWO_AT_ONCE.replace('2', '7')]


def test_coverage_is_of_the_same_tests_and_the_core_has_a_floor(make):
    make('venv')
    tests, adapters, core = make('coverage')
    assert tests == f'{TWO_AT_ONCE} --cov --cov-report='
    assert adapters.split('--include ')[1] == core.split('--omit ')[1].split()[0]
    assert core.endswith('--fail-under 95')
    for step in ('pytest', '--fail-under'):
        make('coverage', fails=True, FAIL=step)


@pytest.mark.parametrize('target, word', [('demo', 'demo'), ('bench', 'bench')])
def test_demo_and_bench_run_the_command(make, target, word):
    make('venv')
    assert make(target) == [word]


def test_docs_are_built_with_warnings_as_errors(make):
    make('venv')
    assert make('docs') == ['-m sphinx -W --keep-going -q -c docs . outputs/docs']


def test_lint_adds_its_tools_once(make):
    shutil.copy(make.folder / 'fake-python', make.folder / 'tool')
    make('venv')
    for tool in ('ruff', 'mypy'):
        shutil.copy(make.folder / 'tool', make.folder / '.venv/bin' / tool)
    assert make('lint')[0].endswith('dev.txt')
    assert make('lint') == ['check .', 'format --check .', '']


@pytest.mark.parametrize('name', ['requirements/lock.txt', PARLAI, 'setup.py'])
def test_a_changed_requirement_rebuilds(make, name):
    make('test')
    path = make.folder / name
    path.write_text(path.read_text() + '# changed\n')
    assert builds(make('test'))


def test_another_python_or_torch_rebuilds(make):
    make('venv')
    assert builds(make('venv', VERSION='3.12.1'))
    assert builds(make('venv', 'TORCH=torch==2.13.1', VERSION='3.12.1'))


@pytest.mark.parametrize(
    'step',
    ['-r requirements/build.txt', '-r requirements/lock.txt', 'torch==', '--editable'],
)
def test_a_build_that_stopped_half_way_starts_over(make, step):
    make('test', fails=True, FAIL=step)
    (make.folder / '.venv' / 'left_over').touch()
    assert builds(make('test'))
    assert not (make.folder / '.venv' / 'left_over').exists()


def test_a_python_that_the_lock_is_not_for_is_refused(make):
    assert not builds(make('venv', fails=True, FAIL='version_info'))


def test_ci_fails_when_a_test_fails(make):
    make(command='.ci/run')
    make(command='.ci/run', fails=True, FAIL='pytest')


def test_clean_removes_the_environment(make):
    make('venv')
    make('clean')
    assert not (make.folder / '.venv').exists()
