"""What the wheel holds and asks for, and what the requirement files pin."""

import re
import runpy
import sys
import zipfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import ROOT
from tests.packaging.test_layers import imported

FOLDERS = {name: f'parlai_q2/{name}' for name in ('agents', 'tasks', 'zoo')}
SHIPPED = ('parlai_q2', *FOLDERS)
REQUIREMENTS = ROOT / 'requirements'
# ParlAI's own, which ship.
PARLAI = '../parlai_q2/parlai/requirements.txt'
FILES = ('build.txt', 'lock.txt', PARLAI, 'test.txt', 'dev.txt')

# Where a package is imported by another name than it is installed by.
INSTALLED_AS = {
    'prometheus_client': 'prometheus-client',
    'bs4': 'beautifulsoup4',
    'git': 'gitpython',
    'google': 'protobuf',
    'markdown_it': 'markdown-it-py',
    'pdf_inspector': 'pdf-inspector',
    'huggingface_hub': 'huggingface-hub',
    'yaml': 'pyyaml',
}


def sources() -> list[Path]:
    """The files that belong into a wheel."""
    modules = []
    for folder in SHIPPED:
        for path in sorted((ROOT / folder).rglob('*')):
            inside = path.relative_to(ROOT)
            if path.is_file() and not {'__pycache__', 'train'} & {*inside.parts}:
                modules.append(inside)
    return modules


def requirements(*names: str) -> Iterator[Requirement]:
    """The lines of requirement files."""
    for name in names:
        for line in (REQUIREMENTS / name).read_text().splitlines():
            if re.match(r'\w', line):
                yield Requirement(line.rstrip(' \\'))


def pins(*names: str, every: bool = False) -> dict[str, set[str]]:
    """The versions of packages that files pin, for this Python or every one."""
    versions: dict[str, set[str]] = {}
    for pin in requirements(*names):
        if every or not pin.marker or pin.marker.evaluate():
            version = str(pin.specifier).removeprefix('==')
            versions.setdefault(canonicalize_name(pin.name), set()).add(version)
    torch = re.search(r'TORCH \?= torch==(\S+)', (ROOT / 'Makefile').read_text())
    return {**versions, 'torch': {torch[1]}}


@pytest.mark.slow
def test_the_wheel_holds_every_source_file_and_nothing_else(wheel):
    expected = set()
    for path in sources():
        top, *rest = path.parts
        expected.add('/'.join([FOLDERS.get(top, top), *rest]))
    names = zipfile.ZipFile(wheel).namelist()
    assert {name for name in names if '.dist-info/' not in name} == expected


@pytest.mark.slow
def test_the_wheel_requires_all_imported_packages(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = (n for n in archive.namelist() if n.endswith('/METADATA'))
        lines = archive.read(metadata).decode().splitlines()
    required = {
        canonicalize_name(Requirement(line.partition(': ')[2]).name)
        for line in lines
        if line.startswith('Requires-Dist: ')
    }
    needed = {}
    for path in sources():
        if path.suffix == '.py':
            for name in imported(ROOT / path):
                top = name.split('.')[0]
                needed[INSTALLED_AS.get(top, top)] = path
    # ParlAI is the host: it is there, or is installed from a file of its own.
    provided = {*sys.stdlib_module_names, 'parlai_q2', 'setuptools', 'parlai'}
    assert {n: p for n, p in needed.items() if n not in provided | required} == {}


@pytest.mark.parametrize('name', FILES)
def test_every_requirement_is_exact_and_has_its_hashes(name):
    text = (REQUIREMENTS / name).read_text()
    lines = [line for line in text.splitlines() if not line.startswith('#')]
    for line, after in zip(lines, [*lines[1:], '']):
        if not line.startswith(' '):
            assert re.match(r'[\w.-]+==[\w.]+(; python_version .*)? \\$', line)
            assert re.match(r' +--hash=sha256:[0-9a-f]{64}', after), line


def check(need: Requirement, pinned: dict[str, set[str]], asker: str) -> None:
    """What is asked for allows what is pinned."""
    versions = pinned.get(canonicalize_name(need.name))
    assert versions, f'{asker} needs {need}, which is not pinned'
    for version in versions:
        assert need.specifier.contains(version, prereleases=True), f'{asker}: {need}'


def test_the_lock_pins_all_dependencies():
    pinned = pins(*(name for name in FILES if name != 'dev.txt'))
    locked = pins('lock.txt', PARLAI, 'test.txt').keys() - {'parlai', 'torch'}
    for name in sorted(locked):
        try:
            needed = [Requirement(line) for line in requires(name) or []]
        except PackageNotFoundError:
            pytest.skip(f'{name} is not installed: this is not the locked environment')
        for need in needed:
            if not need.marker or need.marker.evaluate({'extra': ''}):
                check(need, pinned, name)


def test_setup_py_allows_the_pinned_versions(monkeypatch):
    declared: dict[str, Any] = {}
    monkeypatch.setattr('setuptools.setup', declared.update)
    monkeypatch.chdir(ROOT)
    runpy.run_path('setup.py', run_name='__main__')
    # Hundreds of megabytes, which the tests, on CPUs, do not need.
    del declared['extras_require']['cuda']
    asked = chain(declared['install_requires'], *declared['extras_require'].values())
    pinned = pins(*FILES, every=True)
    for line in asked:
        check(Requirement(line), pinned, 'setup.py')
