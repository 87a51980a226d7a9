"""``score`` and ``rerank`` from file to file and in pipes, and their exit statuses."""

import json
import os
import subprocess
import sys

import pytest

from parlai_q2.__main__ import execute
from parlai_q2.calibrate.calibration import read_labelled
from parlai_q2.cli.commands import run_command
from parlai_q2.errors import ConfigError, InputError, UnscoredError
from parlai_q2.report.scored_file import read_scored_file
from parlai_q2.runs.file_run import LocalEngine
from parlai_q2.runs.score_job import ScoreJob
from parlai_q2.scorers import load_scorer
from tests.conftest import ROOT
from tests.files import read_lines, write_lines
from tests.scoring import score_file

K = 'Sephora is a French chain founded in 1969.'
RECORDS = [
    {'id': 0, 'response': 'no knowledge', 'label': 'from elsewhere'},
    {'id': 1, 'knowledge': K, 'response': 'founded in 1969', 'label': 'mine'},
    {'id': 2, 'knowledge': K, 'response': ''},
    {'id': 3, 'knowledge': K},
    {'id': 4, 'knowledge': K, 'response': 'made of cheese 🧀'},
]


@pytest.fixture
def infile(tmp_path):
    path = tmp_path / 'in.jsonl'
    return write_lines(path, *RECORDS, 'not json')


def test_each_record_comes_out_in_order_with_its_score_or_its_error(infile, tmp_path):
    out = tmp_path / 'out.jsonl'
    options = {'infile': str(infile), 'outfile': str(out), 'measure': 'precision'}
    with pytest.raises(UnscoredError, match=r'3 of the 6 records .* not scored'):
        run_command('score', **options)
    summary = run_command('score', **options, allow_errors=True)
    assert (summary['records'], summary['bad']) == (6, 3)
    scored_lines = read_lines(out)
    assert [r.get('id') for r in scored_lines] == [0, 1, 2, 3, 4, None]
    labels = [None, 'consistent', 'not_verifiable', None, 'inconsistent', None]
    assert [r.get('label') for r in scored_lines] == labels
    given = [line.get('given_label') for line in scored_lines[:3]]
    assert given == ['from elsewhere', 'mine', None]
    assert "'response'" in scored_lines[3]['error']
    error = (scored_lines[5]['line'], 'not JSON' in scored_lines[5]['error'])
    assert error == (6, True)


def test_evidence_fits_the_terminal_and_each_response_stands_apart(
    tmp_path, monkeypatch, capsys
):
    infile, out = tmp_path / 'in.jsonl', tmp_path / 'out.jsonl'
    record = {'knowledge': 'Bees dance. ' * 20, 'response': 'They dance. ' * 20}
    infile.write_text(f'{json.dumps(record)}\n' * 2)
    monkeypatch.setenv('COLUMNS', '50')
    options = ['--infile', str(infile), '--outfile', str(out), '--show']
    run_command('score', *options, measure='precision')
    first_text, other, _ = capsys.readouterr().out.split('\n\n')
    assert first_text == other
    assert first_text.startswith('score')
    assert 40 < max(map(len, first_text.splitlines())) <= 50


def test_the_signature_stands_in_the_first_scored_line_and_beside_the_file(
    infile, tmp_path
):
    out = tmp_path / 'out.jsonl'
    scorer = load_scorer('overlap')
    summary = score_file(infile, out, scorer)
    signatures = [r.get('signature') for r in read_lines(out)]
    assert signatures == [None, str(scorer.signature), None, None, None, None]
    beside = json.loads((tmp_path / 'out.jsonl.meta.json').read_text())
    assert beside == summary
    assert (beside['records'], beside['bad'], beside['not_verifiable']) == (6, 3, 1)


def test_a_person_s_label_of_another_name_is_what_reports_and_fits_read(tmp_path):
    infile, once, again = (tmp_path / f'{n}.jsonl' for n in ('in', 'once', 'again'))
    record = {'knowledge': K, 'response': 'made of cheese', 'label': 'draft'}
    write_lines(infile, {**record, 'gold': 'consistent'})
    for source, target in ((infile, once), (once, again)):
        files = ['--infile', str(source), '--outfile', str(target)]
        run_command('score', *files, '--fields', 'label=gold', measure='precision')
        (line,) = read_lines(target)
        assert (line['label'], line['given_label']) == ('inconsistent', 'consistent')
        for label in ('', 'label', 'gold'):
            (entry,) = read_scored_file(target, label)
            assert entry['class'] == 'consistent'
        assert read_labelled(target)[1] == [True]


@pytest.mark.parametrize('change', ['cut', 'grown', 'gone'])
def test_an_input_that_changes_meanwhile_ends_the_run(tmp_path, monkeypatch, change):
    infile, out = tmp_path / 'in.jsonl', tmp_path / 'out.jsonl'
    line = json.dumps({'knowledge': K, 'response': 'French'}) + '\n'
    infile.write_text(line * 9)

    class Changing(LocalEngine):
        def run(self, chunks):
            for chunk_result in super().run(chunks):
                yield chunk_result
                change_it()

    def change_it():
        if change == 'gone':
            infile.unlink(missing_ok=True)
        else:
            infile.write_text(line * (5 if change == 'cut' else 12))

    engine = Changing(ScoreJob(lambda device: load_scorer('overlap')))

    with pytest.raises(
        InputError, match=r'changed while it was being read.*start over'
    ):
        score_file(infile, out, load_scorer('overlap'), engine=engine, chunk_size=3)
    assert not out.exists()
    assert (tmp_path / 'out.jsonl.part').exists()
    infile.write_text(line * 7)
    messages = []
    monkeypatch.setattr('parlai_q2.cli.log.warning', messages.append)
    assert score_file(infile, out, load_scorer('overlap'))['records'] == 7
    assert 'Starting over' in messages[0]


def test_a_pipe_is_no_file_to_be_scored(tmp_path):
    pipe = tmp_path / 'in.jsonl'
    os.mkfifo(pipe)
    wrong = {pipe: 'not a regular file, and .*--infile -', tmp_path: 'is a folder'}
    for source, message in wrong.items():
        with pytest.raises(InputError, match=message):
            score_file(source, tmp_path / 'out.jsonl', load_scorer('overlap'))
    with pytest.raises(InputError, match='There is no file'):
        score_file(tmp_path / 'no', tmp_path / 'out.jsonl', load_scorer('overlap'))


def test_rejects_unwritable_outputs_before_scoring(infile, tmp_path):
    pipe = os.pipe()
    wrong = {tmp_path / 'out.csv': 'JSON lines or', f'/dev/fd/{pipe[1]}': 'not a reg'}
    for outfile, message in wrong.items():
        with pytest.raises(InputError, match=message):
            score_file(infile, outfile, load_scorer('precision'))
    for end in pipe:
        os.close(end)


@pytest.mark.parametrize('text', ['', '\n\n'])
def test_an_empty_file_is_an_error(tmp_path, text):
    path = tmp_path / 'in.jsonl'
    path.write_text(text)
    with pytest.raises(InputError, match='no record'):
        score_file(path, tmp_path / 'out.jsonl', load_scorer('overlap'))
    assert [p.name for p in tmp_path.iterdir() if 'part' in p.name] == []


def test_a_file_that_cannot_be_read_leaves_nothing(tmp_path):
    (tmp_path / 'in.csv').write_bytes('knowledge,response\n'.encode('utf-16'))
    out = tmp_path / 'out'
    files = ['--infile', str(tmp_path / 'in.csv'), '--outfile', str(out / 'o.jsonl')]
    with pytest.raises(InputError, match='UTF-16'):
        run_command('score', *files, '--measure', 'precision')
    assert list(out.iterdir()) == []


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
