"""The ``parlai_q2`` command itself: versions, help, errors, and how it ends."""

import io
import json
import logging
import pickle
import signal
import subprocess
import sys
import time

import pytest

from parlai_q2 import __main__ as command
from parlai_q2.cli import commands
from parlai_q2.errors import ConfigError, DocumentError, RecordError, UnknownNameError
from tests.conftest import ROOT

# Far more than are scored before a run is stopped here.
RECORDS = 100_000


@pytest.fixture(autouse=True)
def own_settings(monkeypatch):
    """What the command sets for its process is set back."""
    monkeypatch.setattr(logging, 'raiseExceptions', True)
    factory = logging.getLogRecordFactory()
    yield
    logging.setLogRecordFactory(factory)


@pytest.fixture
def main(monkeypatch):
    """Runs the command with something in place of what it would do."""

    def main(run, *arguments):
        monkeypatch.setattr('sys.argv', ['anything', *arguments])
        monkeypatch.setattr(command, 'run', run)
        command.main()

    return main


@pytest.mark.parametrize('option', ['--version', '-V'])
def test_the_version_names_what_a_report_of_a_problem_should(
    monkeypatch, capsys, option
):
    monkeypatch.setattr('sys.argv', ['anything', option])
    command.main()
    output = capsys.readouterr().out
    assert output.startswith('parlai_q2 ')
    for name in (', parlai 1', ', torch ', ', transformers '):
        assert name in output


def test_an_error_of_ours_is_a_message_and_no_traceback(main, capsys):
    def refuse(arguments):
        raise ConfigError(f'Not with {arguments}.')

    with pytest.raises(SystemExit) as end:
        main(refuse, 'score')
    assert end.value.code == 2
    assert capsys.readouterr().err == "Not with ['score'].\n"


@pytest.mark.parametrize(
    'error', [MemoryError(), RuntimeError("can't allocate memory: 9 bytes\nat ...")]
)
def test_too_little_memory_is_a_line_that_says_what_to_do(main, capsys, error):
    def fill(arguments):
        raise error

    with pytest.raises(SystemExit) as end:
        main(fill, 'score')
    assert end.value.code == 2
    errors = capsys.readouterr().err
    assert errors.startswith('Out of memory. Give a smaller --scorer-batch-size')
    assert errors.count('\n') == 1


def test_a_terminal_shows_and_does_not_obey_what_names_and_errors_hold(main, capsys):
    def act(arguments):
        logging.getLogger('any').error('no %s, \x1b[1mbold\x1b[0m', '\x1b]0;title\x07')
        raise ConfigError('There is no \x1b[2J.')

    with pytest.raises(SystemExit):
        main(act, 'score')
    assert capsys.readouterr().err == 'There is no \\x1b[2J.\n'
    fields = {'msg': 'no %s, \x1b[1mb', 'args': ('\x1b]0;t\x07',)}
    record = logging.makeLogRecord(fields)
    assert record.getMessage() == 'no \\x1b]0;t\\x07, \x1b[1mb'


def test_a_path_that_cannot_be_looked_at_is_one_line(tmp_path, capsys, monkeypatch):
    name = 'x' * 300 + '.jsonl'
    words = ['score', '--infile', name, '--outfile', str(tmp_path / 'o.jsonl')]
    monkeypatch.setattr('sys.argv', ['parlai_q2', *words])
    with pytest.raises(SystemExit) as end:
        command.main()
    assert end.value.code == 2
    (last,) = capsys.readouterr().err.splitlines()[-1:]
    assert last == f'Cannot use {name}: File name too long.'


@pytest.mark.parametrize(
    'name, outfile, kept',
    [(name, 'b.jsonl', True) for name in ('score', 'q2_filter', 'meta_eval')]
    + [(name, 'b.jsonl', False) for name in ('interactive', 'eval_model')]
    + [('score', '-', False)],
)
def test_ctrl_c_is_one_line_and_says_what_is_kept(main, capsys, name, outfile, kept):
    def interrupted(arguments):
        raise KeyboardInterrupt

    with pytest.raises(SystemExit) as end:
        main(interrupted, name, '--infile', 'a.jsonl', f'--outfile={outfile}')
    assert end.value.code == 130
    (errors,) = capsys.readouterr().err.splitlines()
    assert errors.startswith('Stopped.')
    assert ('run the same command again to continue' in errors) is kept


def start(folder, *options, **pipes):
    """Starts scoring a large file."""
    infile = folder / 'in.jsonl'
    text = 'It opened in 1969 with ten rooms. ' * 3
    line = json.dumps({'knowledge': text, 'response': text})
    infile.write_text(f'{line}\n' * RECORDS)
    words = ['score', '--infile', infile, '--outfile', folder / 'out.jsonl']
    words += ['--measure', 'precision', '--chunk-size', '10', *options]
    return subprocess.Popen(
        [sys.executable, '-m', 'parlai_q2', *map(str, words)],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        **pipes,
    )


def kept(folder):
    """How many whole lines a stopped run has left for the next to go on from."""
    assert not (folder / 'out.jsonl').exists()
    assert (folder / 'out.jsonl.part.run.json').exists()
    part = (folder / 'out.jsonl.part').read_bytes()
    return part.count(b'\n') if part.endswith(b'\n') else 0


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_scored(tmp_path):
    part = tmp_path / 'out.jsonl.part'
    process = start(tmp_path, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while not (part.exists() and part.stat().st_size):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.count('\n') == 1
    assert 'again to continue' in errors
    assert 0 < kept(tmp_path) < RECORDS


def test_evidence_that_nobody_reads_ends_it_quietly(tmp_path):
    process = start(tmp_path, '--show', 'true', stdout=subprocess.PIPE)
    # As "| head -1" does.
    assert process.stdout is not None
    assert process.stdout.readline()
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == ''
    assert process.wait(60) == 141
    assert 0 < kept(tmp_path) < RECORDS


@pytest.mark.parametrize('word', ['--help', '--version'])
def test_a_full_disk_under_the_output_is_one_line(word):
    command = [sys.executable, '-m', 'parlai_q2', word]
    with open('/dev/full', 'w') as full:
        completed = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, cwd=ROOT
        )
    assert completed.returncode == 2, completed.stderr
    assert completed.stderr.splitlines()[-1].startswith('No space left on a disk. Free')
    assert 'Traceback' not in completed.stderr


@pytest.mark.parametrize('errors', ['strict', 'surrogateescape'])
def test_what_an_encoding_does_not_have_is_shown_as_an_escape(
    main, monkeypatch, errors
):
    output = io.BytesIO()
    stream = io.TextIOWrapper(output, 'ascii', errors)
    monkeypatch.setattr('sys.stdout', stream)
    main(lambda arguments: sys.stdout.write('café \ud800'))
    assert output.getvalue() == rb'caf\xe9 \ud800'


@pytest.mark.parametrize('arguments', [[], ['-h'], ['--help'], ['help']])
def test_help_lists_our_commands_beside_parlais(monkeypatch, capsys, arguments):
    monkeypatch.setattr('sys.argv', ['parlai_q2'])
    try:
        command.run(arguments)
    except SystemExit as end:
        assert not end.code
    output = capsys.readouterr().out
    for name in ('score', 'rerank', 'meta_eval', 'eval_model'):
        assert name in output
    assert '*' not in output


@pytest.mark.parametrize(
    'words, shown',
    [
        ('em -h', ['--model-file']),
        ('q2_filter -h', ['--no-knowledge']),
        ('helpall', ['vacuum', 'distill']),
    ],
)
def test_aliases_and_hidden_commands_have_help(monkeypatch, capsys, words, shown):
    monkeypatch.setattr('sys.argv', ['parlai_q2'])
    try:
        command.run(words.split())
    except SystemExit as end:
        assert not end.code
    output = capsys.readouterr().out
    assert all(name in output for name in shown)


def test_help_without_parlai_marks_what_needs_it(monkeypatch):
    monkeypatch.setattr(commands, 'has_parlai', lambda: False)
    output = commands.help_text()
    assert 'filter *' in output
    assert 'score *' not in output
    assert '*: needs ParlAI. Run: python -m pip install' in output


def test_an_unknown_key_of_an_option_file_is_told_in_a_line(tmp_path, monkeypatch):
    path = tmp_path / 'my.opt'
    path.write_text(json.dumps({'task': 'integration_tests', 'modle': 'x'}))
    monkeypatch.setattr('sys.argv', ['parlai_q2'])
    words = ['eval_model', '--init-opt', str(path), '-m', 'repeat_label']
    message = f"{path} sets 'modle', .* .did you mean 'model'.*. Remove it there"
    with pytest.raises(ConfigError, match=message):
        command.run(words)


@pytest.mark.parametrize(
    'error',
    [
        UnknownNameError('scorer', 'precison', ['recall', 'precision']),
        RecordError('pairs.jsonl', 3, 'is not JSON.'),
        DocumentError('faq.pdf', 'is empty'),
    ],
)
def test_errors_keep_their_message_in_another_process(error):
    restored = pickle.loads(pickle.dumps(error))
    assert type(restored) is type(error)
    assert str(restored) == str(error)
