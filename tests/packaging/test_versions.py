"""What setup.py, the lock, the set-up and the docs say of versions agrees."""

import json
import re

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import ROOT
from tests.files import run_python

PRINT = """
import json, setuptools
setuptools.setup = lambda **told: print(json.dumps(
    {k: told[k] for k in ('install_requires', 'extras_require', 'python_requires')}))
exec(open('setup.py').read())
"""


@pytest.fixture(scope='module')
def setup():
    """What setup.py declares."""
    completed = run_python(f'__file__ = "setup.py"\n{PRINT}', cwd=ROOT, check=True)
    return json.loads(completed.stdout)


def pins():
    """Every line of the lock."""
    files = [*(ROOT / 'requirements').glob('*.txt')]
    for file in [*files, ROOT / 'parlai_q2' / 'parlai' / 'requirements.txt']:
        for line in file.read_text().splitlines():
            if re.match(r'\w', line):
                yield Requirement(line.rstrip(' \\'))


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
