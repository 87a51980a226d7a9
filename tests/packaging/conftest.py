"""Environments to install into, quick and offline: they borrow from the running one."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import pytest
from filelock import FileLock

ROOT = Path(__file__).resolve().parents[2]
NOT_SOURCE = shutil.ignore_patterns(
    '.git', '.venv', '.*_cache', '__pycache__', '*.egg-info', 'build', 'dist', 'outputs'
)


# What a file of weights is cut to: a wheel of them would be packed for ten seconds.
LARGEST = 2_000_000


class Environment:
    """A virtual environment with what the running one has, but for parlai_q2."""

    def __init__(self, folder: Path):
        command = [sys.executable, '-m', 'venv', '--without-pip', str(folder)]
        subprocess.run(command, check=True)
        self.bin = folder / 'bin'
        names = {'base': str(folder), 'platbase': str(folder)}
        self.packages = Path(sysconfig.get_path('purelib', vars=names))
        # A path in a .pth file is searched, and .pth files in it are not read: an
        # editable parlai_q2 of the running environment stays out.
        borrowed = {sysconfig.get_path('purelib'), sysconfig.get_path('platlib')}
        (self.packages / 'borrowed.pth').write_text('\n'.join(borrowed) + '\n')

    def install(self, *arguments: str) -> None:
        """Let pip install into it, without the network."""
        command = [sys.executable, '-m', 'pip', '--python', str(self.bin / 'python')]
        command += 'install -q --no-deps --no-build-isolation --no-index'.split()
        subprocess.run([*command, *arguments], check=True, timeout=300)

    def run(self, program: str, *arguments: str, cwd: Path, **environment: str) -> str:
        """What a program of this environment prints, run in a folder."""
        variables = {**os.environ, **environment, 'PYTHONWARNINGS': 'ignore'}
        if 'PYTHONPATH' not in environment:
            variables.pop('PYTHONPATH', None)
        completed = subprocess.run(
            [str(self.bin / program), *arguments],
            cwd=cwd,
            env=variables,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert completed.returncode == 0, completed.stderr[-3000:]
        return completed.stdout


@pytest.fixture(scope='session')
def checkout(tmp_path_factory) -> Path:
    """A copy of the source tree, with a few zeros in place of weights."""
    folder = tmp_path_factory.mktemp('source') / 'parlai_q2'
    shutil.copytree(ROOT, folder, True, NOT_SOURCE, copy_function=copied)
    return folder


def copied(source: str, target: str) -> None:
    """Copy a file; of a large one, its name."""
    if Path(source).stat().st_size <= LARGEST:
        shutil.copy2(source, target)
    else:
        Path(target).write_bytes(bytes(LARGEST))


@pytest.fixture(scope='session')
def wheel(request) -> Path:
    """The wheel that pip builds from the source tree, once for all workers."""
    folder = Path(tempfile.gettempdir()) / 'dist'
    command = [sys.executable, '-m', 'pip', 'wheel', '--quiet', '--no-deps']
    command += ['--no-index', '--no-build-isolation', '--wheel-dir', str(folder)]
    with FileLock(f'{folder}.lock'):
        if not folder.exists():
            checkout = request.getfixturevalue('checkout')
            subprocess.run([*command, str(checkout)], check=True, timeout=300)
    (built,) = folder.glob('*.whl')
    return built


@pytest.fixture(scope='session')
def with_nothing(tmp_path_factory) -> Environment:
    """An environment without parlai_q2."""
    return Environment(tmp_path_factory.mktemp('with_nothing') / 'venv')


@pytest.fixture(scope='session')
def with_wheel(wheel, tmp_path_factory) -> Environment:
    """An environment with the wheel."""
    environment = Environment(tmp_path_factory.mktemp('with_wheel') / 'venv')
    environment.install(str(wheel))
    return environment


@pytest.fixture(scope='session')
def with_editable(checkout, tmp_path_factory) -> Environment:
    """An environment with an editable install of the source tree."""
    environment = Environment(tmp_path_factory.mktemp('with_editable') / 'venv')
    environment.install('--editable', str(checkout))
    return environment
