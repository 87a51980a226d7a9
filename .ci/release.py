"""
Makes a release by one command: ``python .ci/release.py 0.6.0``.

It refuses what should not be released: an unfinished tree, a version that is not the
next one, a changelog that says nothing, and whatever ``.ci/run`` finds. Then it writes
the version and the changelog's heading, builds the wheel and the source archive of that
commit, checks them with twine (``pip install build twine``), and tags it.
Nothing is pushed or uploaded: it ends by saying how.
"""

import re
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[1]
VERSION, CHANGELOG = Path('parlai_q2/version.py'), Path('CHANGELOG.md')
UNRELEASED = '## [Unreleased]\n'


def refuse(problem: str) -> NoReturn:
    """End with a problem, before anything has been changed."""
    sys.exit(f'No release: {problem}')


def run(*command: str) -> str:
    """What a command prints; it must succeed."""
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        refuse(f'{" ".join(command)} failed.')
    return done.stdout


def check_tree() -> None:
    """The tree is what is committed on main."""
    if run('git', 'status', '--porcelain'):
        refuse('there are changes that are not committed.')
    branch = run('git', 'rev-parse', '--abbrev-ref', 'HEAD').strip()
    if branch != 'main':
        refuse(f'this is the branch {branch}. Releases are made on main.')


def check_version(wanted: str) -> None:
    """The version is newer than the last, and not a tag yet."""
    if not re.fullmatch(r'\d+\.\d+\.\d+', wanted):
        refuse(f'{wanted!r} is no version such as 0.6.0.')
    (now,) = re.findall(r"__version__ = '([\d.]+)'", (ROOT / VERSION).read_text())
    if numbers(wanted) <= numbers(now):
        refuse(f'{wanted} is not newer than {now}.')
    if run('git', 'tag', '--list', f'v{wanted}'):
        refuse(f'there is a tag v{wanted} already.')


def numbers(version: str) -> tuple[int, ...]:
    """The numbers of a version."""
    return tuple(map(int, version.split('.')))


def with_heading(changelog: str, version: str, day: str) -> str:
    """The changelog with its unreleased changes under a version's heading."""
    _, found, rest = changelog.partition(UNRELEASED)
    changes = re.split(r'^## \[', rest, maxsplit=1, flags=re.MULTILINE)[0]
    if not found or not re.search(r'^- \S', changes, re.MULTILINE):
        refuse(f'{CHANGELOG} has nothing under Unreleased.')
    heading = f'{UNRELEASED}\n## [{version}] - {day}\n'
    return changelog.replace(UNRELEASED, heading, 1)


def main() -> None:
    """Make the release that the command line names."""
    if len(sys.argv) != 2:
        refuse('give one version: python .ci/release.py 0.6.0')
    version = sys.argv[1]
    check_tree()
    check_version(version)
    changelog = (ROOT / CHANGELOG).read_text(encoding='utf-8')
    changed = with_heading(changelog, version, date.today().isoformat())
    # Among the tests are those that compare the shipped weights with what they were.
    run('.ci/run')
    check_tree()
    (ROOT / CHANGELOG).write_text(changed, encoding='utf-8')
    head = '"""The version of parlai_q2, defined only here."""'
    text = f'{head}\n\n__version__ = {version!r}\n'
    (ROOT / VERSION).write_text(text, encoding='utf-8')
    paths = str(VERSION), str(CHANGELOG)
    run('git', 'commit', '--quiet', '-m', f'Release {version}', *paths)
    files = [
        f'dist/parlai_q2-{version}{end}' for end in ('-py3-none-any.whl', '.tar.gz')
    ]
    try:
        run(sys.executable, '-m', 'build', '--outdir', 'dist')
        run(sys.executable, '-m', 'twine', 'check', '--strict', *files)
    except SystemExit:
        run('git', 'reset', '--quiet', '--hard', 'HEAD~1')
        raise
    run('git', 'tag', '--annotate', '-m', f'parlai_q2 {version}', f'v{version}')
    print(f'Made {" and ".join(files)}. To publish them:')
    print(
        f'  git push origin main v{version}\n  python -m twine upload {" ".join(files)}'
    )


if __name__ == '__main__':
    main()
