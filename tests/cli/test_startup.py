"""What a command imports before it needs it; a time would depend on the machine."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

HEAVY = ('torch', 'transformers', 'parlai', 'spacy', 'scipy')
# Runs commands one after the other and prints the status, the output and the errors of
# each; what one of them imported would be there after the last.
RUN_ALL = f"""
import contextlib, io, json, sys
from parlai_q2 import __main__ as command
found = []
for words in json.loads(sys.argv[1]):
    shown, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(errors):
        try:
            status = command.execute(words)
        except SystemExit as end:
            status = end.code or 0
    found.append([status, shown.getvalue(), errors.getvalue()])
print(json.dumps([found, [name for name in {HEAVY} if sys.modules.get(name)]]))
"""


def run_all(
    folder: Path, commands: list[list[str]], light: bool = True, before: str = ''
) -> list[tuple[int, str, str]]:
    """
    Runs commands in one process: the status, the output and the errors of each.

    :param light: whether none of them may import a heavy package.
    :param before: what the process runs first.
    """
    completed = subprocess.run(
        [sys.executable, '-c', before + RUN_ALL, json.dumps(commands)],
        cwd=folder,
        env={'PYTHONPATH': str(ROOT), 'HOME': str(folder)},
        capture_output=True,
        text=True,
    )
    assert completed.returncode == 0, completed.stderr
    results, imported = json.loads(completed.stdout)
    assert imported == [] or not light
    return results


@pytest.fixture
def records(tmp_path):
    lines = [
        json.dumps({'knowledge': f'It opened in {year}.', 'response': f'in {year}'})
        for year in range(1960, 1970)
    ]
    (tmp_path / 'in.jsonl').write_text('\n'.join(lines) + '\n')
    return tmp_path


def test_help_imports_nothing_heavy(tmp_path):
    names = ('score', 'rerank', 'report', 'meta_eval', 'bench')
    commands = [['--help'], ['--version'], *([name, '--help'] for name in names)]
    for words, (status, output, _) in zip(commands, run_all(tmp_path, commands)):
        assert status == 0, words
        assert 'parlai_q2' in output, words


SCORE = ['score', '--infile', 'in.jsonl', '--outfile', 'out.jsonl', '--measure']


def test_ten_records_are_scored_by_precision_without_torch(records):
    # A page of them, and the cache, too.
    commands = [[*SCORE, 'precision'], ['report', 'out.jsonl'], ['cache']]
    assert [status for status, _, _ in run_all(records, commands)] == [0, 0, 0]
    assert len((records / 'out.jsonl').read_text().splitlines()) == 10


MISTAKES = [
    (['scroe'], "Did you mean 'score'"),
    (['score'], '--infile is missing'),
    (['score', '--infle', 'x'], "Did you mean '--infile'"),
    (['retrieve', '--mst', 'x'], "no option '--mst'. Known: --held-out, --help, --in"),
    (['score', '--infile'], 'parlai_q2 score --help'),
    (['score', '--chunk-size', 'a'], "'a'"),
    (['score', '--infile', 'none', '--outfile', 'o'], 'There is no file none'),
    (['score', *'--infile in.jsonl --outfile o --measure q3'.split()], "'q3'"),
    (['score', *'--infile in.jsonl --outfile o --measure ..:x'.split()], '..:x'),
    (['score', *'--infile in.jsonl --outfile o --preset min'.split()], "'mini'"),
    (['rerank', '--infile', 'in.jsonl'], '--outfile is missing'),
    (['report'], 'Which scores?'),
    (['report', 'none.jsonl'], 'none.jsonl'),
    (['filter', '-t', 'q2:grounded_sampel'], "'q2:grounded_sample'"),
]


def test_a_mistake_is_one_line_before_anything_heavy_is_loaded(records):
    results = run_all(records, [words for words, _ in MISTAKES])
    for (words, message), (status, _, errors) in zip(MISTAKES, results, strict=True):
        assert status == 2, words
        assert message in errors, words
        assert errors.count('\n') == 1, words
    assert not (records / 'o').exists()


# Runs the command where ParlAI is not installed.
WITHOUT_PARLAI = """
import importlib.util, sys
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == 'parlai' else find(name)
sys.modules['parlai'] = None
"""
WITHOUT_TORCH = "sys.modules['torch'] = sys.modules['transformers'] = None\n"


def test_commands_that_need_parlai_say_how_to_install_it(tmp_path):
    commands = [['filter', '--outfile', 'o'], ['eval_model']]
    for status, _, errors in run_all(tmp_path, commands, before=WITHOUT_PARLAI):
        assert status == 2
        assert errors.count('\n') == 1
        message, _, path = errors.strip().partition('pip install --no-deps -r ')
        assert 'needs ParlAI' in message
        assert 'parlai==' in Path(path).read_text()


def test_a_shipped_detector_scores_without_parlai_and_torch(records):
    commands, without = [[*SCORE, 'consistency']], WITHOUT_PARLAI + WITHOUT_TORCH
    ((status, _, errors),) = run_all(records, commands, light=False, before=without)
    assert status == 0, errors
    assert len((records / 'out.jsonl').read_text().splitlines()) == 10
