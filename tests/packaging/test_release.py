"""A release is one command, which refuses whatever should not be released."""

import shutil
import subprocess
import sys

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.skipif(not shutil.which('git'), reason='needs git')

CHANGES = '# Changelog\n\n## [Unreleased]\n\n- Something new.\n\n## [0.5.0]\n\n- Old.\n'
# Stands for the packages build and twine.
BUILD = """
import pathlib, sys
pathlib.Path('dist').mkdir(exist_ok=True)
pathlib.Path('dist/told').open('a').write(' '.join(sys.argv[1:]) + chr(10))
"""


@pytest.fixture
def project(tmp_path):
    """A small project of the same form, and its release command."""
    for name in ('.ci', 'parlai_q2', 'fakes'):
        (tmp_path / name).mkdir()
    shutil.copy(ROOT / '.ci' / 'release.py', tmp_path / '.ci')
    (tmp_path / '.ci' / 'run').write_text('#!/bin/sh\ntest ! -e red\n')
    (tmp_path / '.ci' / 'run').chmod(0o755)
    (tmp_path / '.gitignore').write_text('dist/\nred\nfakes/\n__pycache__/\n')
    (tmp_path / 'CHANGELOG.md').write_text(CHANGES)
    (tmp_path / 'parlai_q2' / 'version.py').write_text("__version__ = '0.5.0'\n")
    for name in ('build', 'twine'):
        (tmp_path / 'fakes' / f'{name}.py').write_text(BUILD)
    git(tmp_path, 'init', '-q', '-b', 'main')
    commit(tmp_path)
    return tmp_path


NAME = ('-c', 'user.name=T', '-c', 'user.email=t@example.org')


def git(folder, *words):
    command = ['git', *NAME, *words]
    completed = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert completed.returncode == 0, completed.stderr
    return completed.stdout


def commit(folder):
    git(folder, 'add', '-A')
    git(folder, 'commit', '-q', '-m', 'All')


def release(folder, *words):
    environment = {
        'PATH': '/usr/bin:/bin',
        'HOME': str(folder),
        'PYTHONPATH': str(folder / 'fakes'),
        **{f'GIT_{who}_NAME': 'T' for who in ('AUTHOR', 'COMMITTER')},
        **{f'GIT_{who}_EMAIL': 't@example.org' for who in ('AUTHOR', 'COMMITTER')},
    }
    return subprocess.run(
        [sys.executable, '.ci/release.py', *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )


def test_a_release_is_tagged_built_and_checked(project):
    completed = release(project, '0.6.0')
    assert completed.returncode == 0, completed.stderr
    assert "'0.6.0'" in (project / 'parlai_q2' / 'version.py').read_text()
    changelog = (project / 'CHANGELOG.md').read_text()
    assert changelog.index('## [Unreleased]') < changelog.index('## [0.6.0] - 2')
    assert changelog.index('## [0.6.0]') < changelog.index('- Something new.')
    assert git(project, 'tag').split() == ['v0.6.0']
    assert git(project, 'status', '--porcelain') == ''
    built, checked = (project / 'dist' / 'told').read_text().splitlines()
    assert built == '--outdir dist'
    assert checked.startswith('check --strict dist/')
    assert 'twine upload' in completed.stdout


@pytest.mark.parametrize(
    'spoil, version, says',
    [
        (lambda p: (p / 'new.txt').touch(), '0.6.0', 'not committed'),
        (lambda p: git(p, 'checkout', '-q', '-b', 'try'), '0.6.0', 'the branch try'),
        (lambda p: (p / 'red').touch(), '0.6.0', '.ci/run failed'),
        (lambda p: git(p, 'tag', 'v0.6.0'), '0.6.0', 'a tag v0.6.0'),
        (lambda p: None, '0.5.0', 'not newer than 0.5.0'),
        (lambda p: None, 'next', 'no version such as'),
        (
            lambda p: (
                (p / 'CHANGELOG.md').write_text(CHANGES.replace('- Something', 'Some')),
                commit(p),
            ),
            '0.6.0',
            'nothing under Unreleased',
        ),
    ],
)
def test_what_should_not_be_released_is_refused(project, spoil, version, says):
    spoil(project)
    head = git(project, 'rev-parse', 'HEAD')
    changes = (project / 'CHANGELOG.md').read_text()
    completed = release(project, version)
    assert completed.returncode == 1
    assert says in completed.stderr
    assert git(project, 'rev-parse', 'HEAD') == head
    assert (project / 'CHANGELOG.md').read_text() == changes


def test_a_build_that_fails_leaves_no_release(project):
    (project / 'fakes' / 'twine.py').write_text('raise SystemExit(1)')
    completed = release(project, '0.6.0')
    assert completed.returncode == 1
    assert 'twine' in completed.stderr
    assert git(project, 'tag') == ''
    assert git(project, 'log', '--oneline').count('\n') == 1
