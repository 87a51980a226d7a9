"""What setup.py, the lock, the set-up and the docs say of versions agrees."""

import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from tests.conftest import ROOT

PRINT = """
import json, setuptools
setuptools.setup = lambda **told: print(json.dumps(
    {k: told[k] for k in ('install_requires', 'extras_require', 'python_requires')}))
exec(open('setup.py').read())
"""


@pytest.fixture(scope='module')
def setup():
    """What setup.py declares."""
    import json

    command = [sys.executable, '-c', f'__file__ = "setup.py"\n{PRINT}']
    completed = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True
    )
    return json.loads(completed.stdout)


def pins():
    """Every line of the lock."""
    files = [*(ROOT / 'requirements').glob('*.txt')]
    for file in [*files, ROOT / 'parlai_q2' / 'parlai' / 'requirements.txt']:
        for line in file.read_text().splitlines():
            if re.match(r'\w', line):
                yield Requirement(line.rstrip(' \\'))


def locked_pythons():
    """The Pythons that the lock is for."""
    relock = (ROOT / 'requirements' / 'relock.py').read_text()
    (pythons,) = re.findall(r'^PYTHONS = \((.*)\)$', relock, re.MULTILINE)
    return re.findall(r"'(\d\.\d+)'", pythons)


def pinned():
    """Every pinned version of each package, whatever its markers."""
    found = {}
    for pin in pins():
        versions = found.setdefault(canonicalize_name(pin.name), set())
        versions.add(str(pin.specifier).removeprefix('=='))
    torch = re.search(r'TORCH \?= torch==(\S+)', (ROOT / 'Makefile').read_text())
    return {**found, 'torch': {torch[1]}}


def test_what_is_asked_for_allows_what_is_pinned(setup):
    requirements = [*setup['install_requires']]
    for extra, packages in setup['extras_require'].items():
        # Hundreds of megabytes, which the tests, on CPUs, do not need.
        if extra != 'cuda':
            requirements += packages
    versions = pinned()
    for line in requirements:
        need = Requirement(line)
        pinned_version = versions.get(canonicalize_name(need.name))
        assert pinned_version, f'{need.name} is not pinned in requirements/'
        for version in pinned_version:
            assert need.specifier.contains(version, prereleases=True), line


def test_what_is_pinned_for_a_python_runs_on_it():
    judged = 0
    for need in pins():
        try:
            here = distribution(need.name)
        except PackageNotFoundError:
            continue
        if f'=={here.version}' != str(need.specifier):
            continue
        runs_on = SpecifierSet(here.metadata.get('Requires-Python') or '')
        for python in locked_pythons():
            place = {'python_version': python, 'python_full_version': f'{python}.0'}
            if need.marker is None or need.marker.evaluate(place):
                assert runs_on.contains(f'{python}.99'), f'{need} on Python {python}'
                judged += 1
    assert judged > 100


def test_every_extra_that_is_named_exists(setup):
    extras = set(setup['extras_require'])
    named = {}
    for folder in ('docs', 'parlai_q2', 'agents', 'benchmarks', 'tasks', 'zoo'):
        for ending in ('md', 'py'):
            for path in (ROOT / folder).rglob(f'*.{ending}'):
                text = path.read_text('utf-8')
                for versions in re.findall(r'parlai_q2\[([\w,]+)\]', text):
                    named.update(dict.fromkeys(versions.split(','), path))
    for versions in re.findall(r"'\.\[([\w,]+)\]'", (ROOT / 'README.md').read_text()):
        named.update(dict.fromkeys(versions.split(','), 'README.md'))
    assert named.keys() >= {'plots', 'web'}
    assert {name: path for name, path in named.items() if name not in extras} == {}
