"""
What the commands know of ParlAI before they load it: whether it is there, how to
install it, and which commands it has.
"""

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from parlai_q2.cli.commands import COMMANDS, HELPALL, listing
from parlai_q2.errors import MissingPackageError, UnknownNameError
from parlai_q2.packages import check_torch

# The versions that were tried together, installed beside ours.
REQUIREMENTS = Path(__file__).resolve().parent.parent / 'parlai' / 'requirements.txt'
# Those of ParlAI's commands that its guide starts with.
FIRST = (
    'display_data',
    'display_model',
    'eval_model',
    'train_model',
    'interactive',
    'self_chat',
    'safe_interactive',
)
REGISTERED = re.compile(
    r'@register_script\(\s*["\'](\w+)["\'](?:,\s*aliases=\[([^]]*)\])?'
)


@cache
def parlai_commands() -> dict[str, str]:
    """
    The names and aliases of ParlAI's commands, read from its files, and the module of
    each; empty if ParlAI is not installed.
    """
    spec = find_spec('parlai')
    modules: dict[str, str] = {}
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for path in sorted(Path(folder, 'scripts').glob('*.py')):
            for name, aliases in REGISTERED.findall(path.read_text(encoding='utf-8')):
                names = [name, *re.findall(r'\w+', aliases)]
                modules |= dict.fromkeys(names, f'parlai.scripts.{path.stem}')
    return modules


def check_known(name: str) -> None:
    """Check that a command exists; if not, suggest the nearest."""
    theirs = parlai_commands()
    if name in theirs:
        return
    if name in (*FIRST, HELPALL):
        check_parlai(name)
        return
    raise UnknownNameError('command', name, [*COMMANDS, *theirs])


def has_parlai() -> bool:
    return find_spec('parlai') is not None


def check_parlai(what: str) -> None:
    """Check that ParlAI and torch are there; a MissingPackageError says what to run."""
    if not has_parlai():
        raise MissingPackageError(f'{what} needs ParlAI. {how_to_install()}')
    check_torch(what)


def how_to_install() -> str:
    return f'Run: python -m pip install --no-deps -r {REQUIREMENTS}'


def help_text() -> str:
    """All commands."""
    if has_parlai():
        theirs = (
            'Commands of ParlAI, where -m and -t take the short names (q2:...):\n'
            f'  {", ".join(FIRST)}, ...\n  All of them: parlai_q2 {HELPALL}\n'
        )
    else:
        theirs = f'*: needs ParlAI. {how_to_install()}\n'
    return (
        'usage: parlai_q2 COMMAND ...\n'
        '       parlai_q2 COMMAND --help   its options\n'
        '       parlai_q2 --version\n\n'
        f'{listing(starred=not has_parlai())}\n{theirs}'
    )
