"""
The commands on a cluster of two nodes write what they write in one process, byte for
byte; and what one record does to an actor, the others do not notice.
"""

import json
import signal
import subprocess
import sys
import time
from importlib.util import find_spec

import pytest

from parlai_q2.__main__ import run
from parlai_q2.cli.commands import run_command
from parlai_q2.filtering.judge import batches_of, judge_batches
from parlai_q2.filtering.policy import Policy
from parlai_q2.scale.judge_job import JudgeJob
from parlai_q2.scale.kept_scores import KeptScores
from parlai_q2.scale.score_job import ScoreJob
from parlai_q2.scripts.score import score_file
from tests.files import read_lines, write_lines
from tests.scale.nodes import cluster, wait_for
from tests.scale.toys import K, ToyScorer, maker, write_records

without = pytest.mark.skipif(find_spec('ray') is None, reason='ray is not installed')
pytestmark = [pytest.mark.slow, without]


@pytest.fixture(scope='module')
def address():
    """That of a cluster of two nodes of one core."""
    with cluster(1, 1) as found:
        yield found.address


def both(command, infile, tmp_path, address, **options):
    """The files that a command writes in this process, and on Ray."""
    found = []
    for name, engine in (
        ('local', {}),
        ('ray', {'engine': 'ray', 'ray_address': address, 'ray_actors': 2}),
    ):
        folder = tmp_path / name
        outfile = str(folder / 'out.jsonl')
        files = {'infile': str(infile), 'outfile': outfile}
        run_command(command, **files, **options, **engine)
        found.append({path.name: path.read_bytes() for path in folder.iterdir()})
    return found


def interrupted(command, part):
    """
    Run a command, end it as Ctrl-C does when it has written some of ``part``, and give
    what it left there.
    """
    started = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=part.parent
    )
    wait_for(lambda: part.exists() and part.stat().st_size > 0)
    began = time.monotonic()
    started.send_signal(signal.SIGINT)
    said, _ = started.communicate(timeout=60)
    assert time.monotonic() - began < 5
    assert started.returncode == 130 and b'Traceback' not in said, said
    return part.read_bytes()


def test_score_writes_the_same_with_the_shipped_detector(tmp_path, address):
    responses = [f'a French chain of {n} shops' for n in range(30)]
    infile = write_records(tmp_path / 'in.jsonl', responses)
    with open(infile, 'a') as stream:
        stream.write('not json\n{"knowledge": 3, "response": ""}\n')
    options = {'measure': 'consistency', 'chunk_size': 4}
    local, ray = both('score', infile, tmp_path, address, **options)
    assert local == ray
    assert len(local) == 2 and local['out.jsonl'].count(b'\n') == 32


def test_rerank_writes_the_same(tmp_path, address):
    pools = [
        {'knowledge': K, 'candidates': [f'{n} shops', 'in Limoges', 'a French chain']}
        for n in range(20)
    ]
    infile = tmp_path / 'in.jsonl'
    write_lines(infile, *pools)
    options = {'choose': 'precision', 'explain': 'none', 'chunk_size': 3}
    local, ray = both('rerank', infile, tmp_path, address, **options)
    assert local == ray


def test_filter_writes_the_same(tmp_path, address, monkeypatch):
    monkeypatch.setenv('PARLAI_Q2_CACHE', str(tmp_path / 'scores.sqlite'))
    found = []
    for name, engine in (('local', []), ('ray', ['--ray-address', address])):
        folder = tmp_path / name
        folder.mkdir()
        # The same name in both, since the files hold it.
        monkeypatch.chdir(folder)
        words = 'filter -t q2:grounded_sample:annotated -dt valid --choose consistency'
        words += f' --chunk-size 16 --engine {name} --outfile kept.jsonl'
        run([*words.split(), *engine])
        written = ('kept.jsonl', 'kept.dropped.jsonl', 'kept.summary.txt')
        found.append([(folder / one).read_bytes() for one in written])
    assert found[0] == found[1]
    assert (tmp_path / 'ray' / 'kept.scores.jsonl').read_bytes().count(b'\n') == 84


def test_a_label_that_kills_its_actors_is_named_and_dropped(tmp_path, address):
    from parlai_q2.scale.ray_engine import RayEngine, Resources

    said = [f'shop {n}' for n in range(20)]
    said[9] = 'die always'
    turns = [{'text': '', 'knowledge': K, 'labels': [one]} for one in said]
    problems = []
    with RayEngine(JudgeJob(maker(tmp_path)), Resources(address, 2)) as engine:
        kept = KeptScores(tmp_path / 'kept.jsonl', engine, True, problems.append)
        with kept:
            batches = batches_of(([turn] for turn in turns), chunk=8)
            judged = list(judge_batches(kept.scores(batches), Policy()))
    lost = [n for n, (turn,) in enumerate(judged) if turn.labels[0].score is None]
    assert lost == [9]
    assert 'episode 10, turn 1 could not be scored: a process died' in problems[0]


def test_a_record_that_kills_its_actors_is_named_and_the_rest_is_scored(
    tmp_path, address
):
    from parlai_q2.scale.ray_engine import RayEngine, Resources

    responses = [f'shop {n}' for n in range(20)]
    responses[9] = 'die always'
    infile, outfile = tmp_path / 'in.jsonl', tmp_path / 'out.jsonl'
    write_records(infile, responses)
    job = ScoreJob(maker(tmp_path))
    with RayEngine(job, Resources(address, 2)) as engine:
        scorer = ToyScorer(tmp_path)
        summary = score_file(infile, outfile, scorer, engine=engine, chunk_size=8)
    lines = read_lines(outfile)
    assert [line['id'] for line in lines] == list(range(20))
    assert [n for n, line in enumerate(lines) if 'error' in line] == [9]
    assert 'in.jsonl, line 10: could not be done: a process died' in lines[9]['error']
    assert (summary['records'], summary['bad']) == (20, 1)


def test_ctrl_c_stops_within_five_seconds_and_leaves_what_resumes(tmp_path, address):
    infile = write_records(tmp_path / 'in.jsonl', [f'shop {n}' for n in range(20000)])
    files = ['--infile', str(infile), '--outfile', str(tmp_path / 'out.jsonl')]
    options = ['--measure', 'precision', '--chunk-size', '1']
    command = [sys.executable, '-m', 'parlai_q2', 'score', *files, *options]
    on_ray = ['--engine', 'ray', '--ray-address', address, '--ray-actors', '2']
    part = tmp_path / 'out.jsonl.part'
    kept = interrupted([*command, *on_ray], part)
    assert json.loads(kept.splitlines()[-1])['id'] < 19999
    run_command('score', *files, *options)
    run_command('score', *files[:3], str(tmp_path / 'whole.jsonl'), *options)
    out = (tmp_path / 'out.jsonl').read_bytes()
    assert out == (tmp_path / 'whole.jsonl').read_bytes()
    assert out.startswith(kept)


@pytest.mark.parametrize('engine', ['local', 'ray'])
def test_ctrl_c_stops_filter_within_five_seconds_and_its_scores_are_taken_up(
    tmp_path, address, engine
):
    conversations = tmp_path / 'in.jsonl'
    turns = [
        {'knowledge': K, 'history': ['Well?'], 'response': f'shop {n}'}
        for n in range(5000)
    ]
    write_lines(conversations, *turns)
    files = ['-t', 'q2:grounded_file', '--jsonfile-datapath', str(conversations)]
    options = ['--choose', 'precision', '--chunk-size', '1', '--cache', 'false']
    command = [sys.executable, '-m', 'parlai_q2', 'filter', *files, *options]
    on_ray = ['--engine', 'ray', '--ray-address', address, '--ray-actors', '2']
    folders = stopped, whole = tmp_path / 'stopped', tmp_path / 'whole'
    for folder in folders:
        folder.mkdir()
    command += ['--outfile', 'kept.jsonl']
    first = [*command, *on_ray] if engine == 'ray' else command
    kept = interrupted(first, stopped / 'kept.scores.jsonl.part')
    assert 0 < kept.count(b'\n') < 5000
    assert not (stopped / 'kept.jsonl').exists()
    for folder in folders:
        again = subprocess.run([*command, *on_ray], cwd=folder, capture_output=True)
        assert again.returncode == 0, again.stderr
    for name in ('kept.jsonl', 'kept.dropped.jsonl', 'kept.scores.jsonl'):
        assert (stopped / name).read_bytes() == (whole / name).read_bytes(), name
    assert (stopped / 'kept.scores.jsonl').read_bytes().startswith(kept)
