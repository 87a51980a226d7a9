"""
Finds the code that a reader of the documentation can run: shell commands, pieces of
Python, and files to be written.

- A block marked ``bash``, ``sh`` or ``shell`` holds commands, one a line; in a block
  marked ``console`` they stand behind ``$``. So they may in a block without a mark,
  where a line also is a command if it begins with one of :data:`PROGRAMS`: the block
  may hold output too.
- A block marked ``python``, or without a mark and begun by an import, is Python.
- A block of any other mark whose first line is a comment with a file's name is that
  file, and so is one of Python.
"""

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[2]
SHELL = ('bash', 'sh', 'shell')
PROGRAMS = (
    'cat cd curl docker echo export git head make parlai parlai_q2 pip python python3 '
    'sphinx-build torchrun'
).split()
FILE_NAME = re.compile(r'(?:#|//) ([\w./-]+\.\w+)$')


class Code(NamedTuple):
    """One thing to run or to write, with its page and line; ``name`` is of a file."""

    page: str
    line: int
    kind: str
    text: str
    name: str = ''


def pages() -> list[Path]:
    """The pages whose code is run."""
    paths = [ROOT / 'README.md', ROOT / 'CONTRIBUTING.md']
    for pattern in ('docs/**/*.md', 'tasks/*/README.md', 'zoo/**/README.md'):
        paths += sorted(ROOT.glob(pattern))
    return paths


def read_code(page: Path) -> Iterator[Code]:
    """A page's code, in order."""
    return find_code(page.read_text('utf-8'), page.relative_to(ROOT).as_posix())


def find_code(text: str, page: str) -> Iterator[Code]:
    """The code of a page's text, in order."""
    for token in MarkdownIt().parse(text):
        if token.type not in ('fence', 'code_block') or token.map is None:
            continue
        first = token.map[0] + (2 if token.type == 'fence' else 1)
        yield from _read_block(
            page, first, token.info.strip(), textwrap.dedent(token.content)
        )


def _read_block(page: str, line: int, mark: str, text: str) -> Iterator[Code]:
    head = text.split('\n', 1)[0].strip()
    named = FILE_NAME.match(head)
    if mark in (*SHELL, 'console', ''):
        if mark == '' and re.match(r'(from \w[\w.]* )?import \w', head):
            yield Code(page, line, 'python', text)
            return
        for number, command in _commands(text, mark):
            yield Code(page, line + number, 'command', command)
    elif named:
        yield Code(page, line, 'file', text, named[1])
    elif mark == 'python':
        yield Code(page, line, 'python', text)


def _commands(text: str, mark: str) -> Iterator[tuple[int, str]]:
    """The commands of a block, each with its line from 0."""
    lines = text.split('\n')
    place = 0
    while place < len(lines):
        start, line = place, lines[place]
        place += 1
        prompted = line.startswith('$ ')
        line = line.removeprefix('$ ')
        word = line.split(' ', 1)[0]
        is_command = mark in SHELL or (mark == '' and word in PROGRAMS)
        if not line.strip() or line.startswith('#') or not (prompted or is_command):
            continue
        while line.endswith('\\') and place < len(lines):
            line = line[:-1].rstrip() + ' ' + lines[place].strip()
            place += 1
        here = re.search(r"<<'?(\w+)'?", line)
        while here and place < len(lines):
            line += '\n' + lines[place]
            place += 1
            if lines[place - 1] == here[1]:
                break
        yield start, line
