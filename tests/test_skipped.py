"""A run tells what it skipped, and fails for it where it is asked to."""

import subprocess
import sys

import pytest

from tests.conftest import ROOT
from tests.skipped import is_expected

TESTS = """
import pytest

def test_that_runs():
    pass

@pytest.mark.skip(reason='there is no GPU')
def test_that_needs_a_device():
    pass
"""
CONFTEST_TEXT = """
import pytest
pytest.importorskip('no_such_package', reason='needs a package')
"""


@pytest.mark.parametrize(
    'extra_tests, options, code, says, workers',
    [
        ('', ['--fail-on-skips'], 0, '1 skipped, 0 of them', 0),
        (CONFTEST_TEXT, [], 0, 'NOT EXPECTED needs a package', 1),
        (CONFTEST_TEXT, ['--fail-on-skips'], 1, '2 skipped, 1 of them', 0),
        (CONFTEST_TEXT, ['--fail-on-skips'], 1, '2 skipped, 1 of them', 1),
    ],
)
def test_skips_are_counted_and_may_be_a_failure(
    tmp_path, extra_tests, options, code, says, workers
):
    (tmp_path / 'conftest.py').write_text('from tests.skipped import *\n')
    (tmp_path / 'test_some.py').write_text(TESTS)
    (tmp_path / 'test_more.py').write_text(extra_tests)
    command = [sys.executable, '-m', 'pytest', '-q', '-n', str(workers), *options]
    completed = subprocess.run(
        [*command, '-p', 'no:cacheprovider', '--rootdir', str(tmp_path), '.'],
        cwd=tmp_path,
        env={'PYTHONPATH': str(ROOT), 'PATH': ''},
        capture_output=True,
        text=True,
    )
    assert says in completed.stdout
    assert completed.returncode == code, completed.stdout


def test_what_can_be_installed_is_no_reason():
    assert is_expected('there is no /somewhere/shared/data/dev/begin')
    assert is_expected('there is no GPU')
    assert not is_expected('needs one of chromium on PATH')
    assert not is_expected("could not import 'sacrebleu'")
