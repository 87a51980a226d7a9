"""Files as tests read and write them, and code that they run on its own."""

import json
import re
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace


def read_lines(path):
    return [json.loads(line) for line in path.read_text('utf-8').splitlines()]


def write_lines(path, *lines):
    """Write records, or lines as they are; return the path."""
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text(''.join(f'{text}\n' for text in texts), 'utf-8')
    return path


def page_data(page):
    """What the script of a page shows; the page as a path or its text."""
    text = page.read_text('utf-8') if isinstance(page, Path) else page
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.S)[1])


def load_script(path):
    """The names that a script defines, which is in no package."""
    return SimpleNamespace(**runpy.run_path(str(path)))


def run_python(code, *words, **options):
    """Run code in a process of its own; it has what was printed."""
    command = [sys.executable, '-c', code, *words]
    return subprocess.run(command, capture_output=True, text=True, **options)
