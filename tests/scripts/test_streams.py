"""``score`` and ``rerank`` in pipes: standard input and output, and exit statuses."""

import json
import subprocess
import sys

import pytest

from parlai_q2.__main__ import execute
from parlai_q2.cli.commands import run_command
from parlai_q2.errors import ConfigError
from tests.conftest import ROOT
from tests.files import read_lines, write_lines

K = 'Sephora is a French chain founded in 1969.'
GOOD = {'knowledge': K, 'response': 'founded in 1969'}
POOL = {'knowledge': K, 'candidates': ['moon', 'founded in 1969']}
SCORE = ['score', '--measure', 'precision']
RERANK = ['rerank', '--choose', 'precision', '--explain', 'none']


def run(words, text, folder):
    return subprocess.run(
        [sys.executable, '-m', 'parlai_q2', *words],
        input=text,
        capture_output=True,
        text=True,
        cwd=folder,
        env={'PYTHONPATH': str(ROOT), 'HOME': str(folder), 'PATH': ''},
    )


@pytest.mark.parametrize(
    'words, record, field',
    [
        ([*SCORE, '--outfile', '-'], GOOD, 'score'),
        ([*SCORE, '--outfile', '/dev/stdout', '--quiet'], GOOD, 'score'),
        ([*RERANK, '--outfile', '-'], POOL, 'order'),
    ],
)
def test_results_alone_go_to_the_standard_output(words, record, field, tmp_path):
    text = f'{json.dumps(record)}\n' * 3
    completed = run([*words, '--infile', '-'], text, tmp_path)
    lines = [json.loads(line) for line in completed.stdout.splitlines()]
    assert (completed.returncode, len(lines)) == (0, 3)
    assert all(field in line for line in lines)
    assert ('Signature: precision' in completed.stderr) == ('--quiet' not in words)
    assert not completed.stderr or '--quiet' not in words
    assert list(tmp_path.iterdir()) == []


def test_the_standard_input_is_read_in_any_format_into_a_file(tmp_path):
    words = [*SCORE, '--infile', '-', '--format', 'csv', '--outfile', 'out.jsonl']
    for _ in range(2):
        completed = run(words, 'knowledge,response\nK.,K.\n', tmp_path)
        assert completed.returncode == 0, completed.stderr
    (line,) = read_lines(tmp_path / 'out.jsonl')
    assert line['label'] == 'consistent'


@pytest.mark.parametrize(
    'lines, options, status',
    [
        ([GOOD], [], 0),
        ([GOOD, 'not json'], [], 3),
        ([GOOD, 'not json'], ['--allow-errors'], 0),
        (['not json'], [], 3),
        (['not json'], ['--allow-errors', 'true'], 0),
        ([], [], 2),
        ([], ['--allow-errors'], 2),
    ],
)
def test_the_exit_status_says_whether_every_record_was_scored(
    lines, options, status, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    write_lines(tmp_path / 'in.jsonl', *lines)
    words = [*SCORE, '--infile', 'in.jsonl', '--outfile', 'out.jsonl', *options]
    assert execute(words) == status
    assert (tmp_path / 'out.jsonl').exists() == bool(lines)


@pytest.mark.parametrize(
    'options, problem',
    [
        (['--infile', 'in/*.jsonl'], 'takes the JSON lines of one file'),
        (['--infile', '-', '--show'], '--show and --outfile - both write'),
        (['--infile', '-', '--out-format', 'parquet'], 'takes the JSON lines'),
    ],
)
def test_rejects_formats_that_the_standard_output_cannot_hold(options, problem):
    with pytest.raises(ConfigError, match=problem):
        run_command(*SCORE, *options, '--outfile', '-')
