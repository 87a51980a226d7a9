"""
Rewrites the hashes of the requirement files beside it: ``python relock.py``, or of some
of them: ``python relock.py dev.txt``.

A requirement line keeps its version and marker; below it come the sha256 of the files
that pip would choose for each Python and platform of ``PYTHONS`` and ``PLATFORMS``. pip
itself is asked (``--dry-run --report``), so its configuration holds and nothing is
installed.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

FOLDER = Path(__file__).resolve().parent
PARLAI = '../parlai_q2/parlai/requirements.txt'
FILES = ('build.txt', 'lock.txt', PARLAI, 'test.txt', 'dev.txt')
PYTHONS = ('3.10', '3.11', '3.12')


def _manylinux(machine: str, newest: int) -> tuple[str, ...]:
    # pip takes each glibc version by its own tag, the first that fits.
    tags = [f'manylinux_2_{minor}_{machine}' for minor in range(newest, 4, -1)]
    return (*tags, f'manylinux2014_{machine}')


# A package may ship one file for new and one for old systems of the same machine; glibc
# 2.28 is the oldest that torch 2.13 runs on.
PLATFORMS = (
    _manylinux('x86_64', 39),
    _manylinux('x86_64', 28),
    _manylinux('aarch64', 39),
    _manylinux('aarch64', 28),
    tuple(f'macosx_{major}_0_arm64' for major in range(15, 10, -1)),
)


def main() -> None:
    """Rewrite the files that the command line names; default: all."""
    for name in sys.argv[1:] or FILES:
        path = FOLDER / name
        head, requirements = read(path.read_text(encoding='utf-8'))
        hashes: dict[str, set[str]] = {line: set() for line in requirements}
        for python in PYTHONS:
            for platforms in PLATFORMS:
                sys.stderr.write(f'{name}: Python {python}, {platforms[0]}\n')
                collect(hashes, python, platforms)
        path.write_text(head + write(hashes), encoding='utf-8')


def read(text: str) -> tuple[str, list[str]]:
    """The comment that a file opens with, and its requirements without hashes."""
    lines = text.splitlines(keepends=True)
    head = ''.join(line for line in lines if line.startswith('#'))
    pins = [
        line.split('--hash')[0].rstrip(' \\\n')
        for line in lines
        if line.strip() and not line.startswith((' ', '#'))
    ]
    return head, sorted(pins, key=lambda pin: canonicalize_name(pin.split('==')[0]))


def write(hashes: dict[str, set[str]]) -> str:
    """Requirements with their hashes, as pip reads them."""
    text = ''
    for line, found in hashes.items():
        text += ' \\\n    '.join([line, *(f'--hash=sha256:{h}' for h in sorted(found))])
        text += '\n'
    return text


def collect(hashes: dict[str, set[str]], python: str, platforms: Sequence[str]) -> None:
    """Add the hashes for one Python on one platform."""
    wanted = {}
    for line in hashes:
        requirement = Requirement(line)
        environment = {'python_version': python, 'python_full_version': f'{python}.0'}
        if not requirement.marker or requirement.marker.evaluate(environment):
            wanted[canonicalize_name(requirement.name)] = line
    # Markers are taken off: pip would judge them by the Python that runs it.
    names = [line.split(';')[0].strip() for line in wanted.values()]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / 'report.json'
        command = [sys.executable, '-m', 'pip', 'install', '--quiet', '--dry-run']
        command += ['--ignore-installed', '--no-deps', '--no-build-isolation']
        command += ['--target', folder, '--report', str(report)]
        command += ['--implementation', 'cp', '--python-version', python]
        command += [f'--platform={platform}' for platform in platforms]
        subprocess.run(command + names, check=True)
        installs = json.loads(report.read_text(encoding='utf-8'))['install']
    for install in installs:
        name = canonicalize_name(install['metadata']['name'])
        found = install['download_info']['archive_info']['hashes']['sha256']
        hashes[wanted[name]].add(found)


if __name__ == '__main__':
    main()
