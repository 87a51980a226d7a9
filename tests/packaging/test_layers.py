"""What CONTRIBUTING.md says of the tree: layers, lazy imports, short files."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.conftest import ROOT

# From the ground up. A part imports itself and parts of the floors below it.
FLOORS = (
    ('version', 'errors', 'threads', 'decimals'),
    ('options',),
    ('turns', 'signature', 'packages', 'intervals', 'presets'),
    ('json_values', 'log_odds', 'sweep', 'tables', 'web'),
    ('claims',),
    ('text',),
    ('io',),
    ('models', 'perturb'),
    ('q2', 'generate'),
    ('scorers', 'figures'),
    ('retrieve',),
    ('rerank',),
    ('output_records',),
    ('cache', 'evaluate', 'report'),
    ('runs', 'calibrate'),
    ('filtering',),
    ('scale',),
    ('cli',),
    ('serve', 'bench'),
    ('parlai',),
    ('agents', 'tasks', '__main__'),
    ('zoo', 'scripts'),
)
FLOOR_OF = {part: n for n, parts in enumerate(FLOORS) for part in parts}
# The public names: it imports from everywhere, when one is asked for.
FACE = '__init__'
WITHOUT_TORCH = (
    'version',
    'errors',
    'options',
    'turns',
    'json_values',
    'claims',
    'signature',
    'presets',
    'text',
    'io',
    'perturb',
)
WITH_PARLAI = ('parlai', 'agents', 'tasks', 'zoo', 'scripts', '__main__')
LONGEST = 450


def modules() -> Iterator[tuple[str, Path]]:
    """The parts of the package, and the files of each."""
    for folder in ('parlai_q2', 'agents', 'tasks', 'zoo'):
        top = ROOT / folder
        for path in sorted(top.rglob('*.py')):
            inside = path.relative_to(top).parts[0].removesuffix('.py')
            yield (inside if folder == 'parlai_q2' else folder), path


@cache
def imported(path: Path) -> frozenset[str]:
    """All that a file imports, wherever in it."""
    modules = set()
    for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f'{path}: relative import'
            # "from parlai_q2 import agents" names a part, too.
            modules |= {f'{node.module}.{alias.name}' for alias in node.names}
    return frozenset(modules)


def importing(package: str) -> dict[str, set[str]]:
    """The parts that import a package, each with its files that do."""
    found: dict[str, set[str]] = {}
    for part, path in modules():
        if any(name.split('.')[0] == package for name in imported(path)):
            found.setdefault(part, set()).add(str(path.relative_to(ROOT)))
    return found


def test_every_part_has_its_floor():
    assert {part for part, _ in modules()} == {*FLOOR_OF, FACE}


def test_imports_run_one_way():
    wrong = [
        f'{path.relative_to(ROOT)} imports {name}'
        for part, path in modules()
        for name in sorted(imported(path))
        if part != FACE and name.startswith('parlai_q2.')
        for other in [name.split('.')[1]]
        if other in FLOOR_OF and other != part and FLOOR_OF[other] >= FLOOR_OF[part]
    ]
    assert wrong == []


def test_contributing_lists_the_folders_from_the_ground_up():
    text = (ROOT / 'CONTRIBUTING.md').read_text('utf-8')
    _, _, layout = text.partition('## How the code is laid out')
    rows = re.findall(r'^\| (`.*?`) \|', layout.partition('\n\nTo ')[0], re.MULTILINE)
    folders = re.findall(r'`(\w+)/`', ' '.join(rows))
    floors = [FLOOR_OF[folder] for folder in folders]
    assert floors == sorted(floors)
    packages = {part for part, path in modules() if path.name == '__init__.py'}
    assert {*folders} == packages - {FACE}


def test_only_adapters_import_parlai():
    modules = importing('parlai')
    assert {part: modules[part] for part in modules if part not in WITH_PARLAI} == {}


def test_text_records_and_files_need_no_torch():
    for package in ('torch', 'transformers'):
        modules = importing(package)
        assert {part: modules[part] for part in modules if part in WITHOUT_TORCH} == {}


def test_task_readers_do_not_import_parlai():
    readers = [p for part, p in modules() if part == 'tasks' and p.stem == 'reader']
    assert len(readers) > 5
    for path in readers:
        for name in imported(path):
            assert not name.startswith(('parlai.', 'parlai_q2.parlai')), path


def test_no_file_is_long():
    endings = ('*.py', '*.js', '*.css', '*.html')
    folders = ('parlai_q2', 'agents', 'tasks', 'zoo', 'benchmarks')
    folders += ('tests', 'docs', 'requirements')
    sizes = {
        str(path.relative_to(ROOT)): len(path.read_text('utf-8').splitlines())
        for folder in folders
        for ending in endings
        for path in (ROOT / folder).rglob(ending)
    }
    assert {path: size for path, size in sizes.items() if size > LONGEST} == {}
