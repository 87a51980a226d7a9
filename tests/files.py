"""Files as tests read and write them: JSON lines, and pages with data."""

import json
import re
import runpy
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
