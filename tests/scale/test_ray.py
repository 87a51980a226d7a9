"""
Ray: results come out as of one process, whatever dies, on a cluster of two nodes; and
the commands write there what they write in one process, byte for byte.
"""

import os
import signal
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from parlai_q2.__main__ import run
from parlai_q2.cli.commands import run_command
from parlai_q2.errors import ConfigError, WorkerError
from parlai_q2.runs.score_job import ScoreJob
from parlai_q2.scorers.overlap import OverlapScorer
from tests.conftest import ROOT
from tests.files import run_python, write_lines
from tests.runs.toys import K, chunks, maker, write_records
from tests.scale.nodes import (
    WATCHFUL,
    add_node,
    children,
    cluster,
    kill_node,
    listening,
)

without = pytest.mark.skipif(find_spec('ray') is None, reason='ray is not installed')
pytestmark = [pytest.mark.slow, without]


@pytest.fixture(scope='module')
def two_nodes():
    """A cluster of a node without cores and one of two; a test adds others."""
    with cluster(2) as nodes:
        yield nodes


@pytest.fixture
def engine(two_nodes, tmp_path):
    """A function that makes an engine for a toy job on the two nodes."""
    from parlai_q2.scale.ray_engine import RayEngine, Resources

    def make(actors=2, **settings):
        job = ScoreJob(maker(tmp_path, **settings))
        return RayEngine(job, Resources(two_nodes.address, actors))

    return make


def results(engine, responses):
    with engine:
        return [line for _, lines in engine.run(chunks(responses)) for line in lines]


def expected(responses):
    job = ScoreJob(lambda device: OverlapScorer()).load()
    return [line for _, items in chunks(responses) for line in job.process(items)]


def test_results_come_in_order_and_only_what_no_actor_survives_is_lost(
    engine, tmp_path
):
    responses = ['slow to come', *map(str, range(40)), 'die once', 'fill once', '41']
    responses += [*map(str, range(9)), 'die always', *map(str, range(20))]
    lines, lines_of_one_process = results(engine(), responses), expected(responses)
    at = responses.index('die always')
    lines_of_one_process.pop(at)
    assert 'a process died of it 3 times' in lines.pop(at)['error']
    assert lines == lines_of_one_process
    threads = [path.read_text() for path in tmp_path.glob('threads.*')]
    assert len(threads) > 2
    assert set(threads) == {'1'}


def test_an_error_of_the_job_ends_the_run_with_its_message(engine):
    with pytest.raises(WorkerError, match='ZeroDivisionError: of the job'):
        results(engine(actors=1), ['1', 'raise'])
    with pytest.raises(WorkerError, match='TwoPartError'):
        results(engine(actors=1), ['1', 'break'])
    message = '^On the Ray cluster: The model is not there. Fetch it.\n'
    with pytest.raises(WorkerError, match=message):
        engine(actors=1, start='refuse')


def test_a_module_that_the_nodes_do_not_have_ends_the_run(
    tmp_path, monkeypatch, two_nodes
):
    code = 'from parlai_q2.scorers.overlap import OverlapScorer as Mine'
    (tmp_path / 'only_here.py').write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    infile = write_records(tmp_path / 'in.jsonl', ['in 1969'])
    options = {'measure': 'only_here:Mine', 'cache': False}
    with pytest.raises(
        WorkerError, match=r'(?s)only_here.*PYTHONPATH=folder ray start'
    ):
        both('score', infile, tmp_path, two_nodes.address, **options)


def test_actors_that_cannot_load_end_the_run(engine):
    with pytest.raises(WorkerError, match=r'(?s)3 actors died one after.*--ray-actors'):
        engine(actors=1, start='die')


def test_actors_that_would_give_other_results_are_refused(engine):
    with pytest.raises(ConfigError, match="would differ from the run's"):
        results(engine(start='differ', seconds=0.5), [*map(str, range(40))])


def both(command, infile, tmp_path, address, actors=1, **options):
    """The files that a command writes in this process, and on Ray."""
    outputs = []
    for name, engine in (
        ('local', {}),
        ('ray', {'engine': 'ray', 'ray_address': address, 'ray_actors': actors}),
    ):
        folder = tmp_path / name
        outfile = str(folder / 'out.jsonl')
        files = {'infile': str(infile), 'outfile': outfile}
        run_command(command, **files, **options, **engine)
        outputs.append({path.name: path.read_bytes() for path in folder.iterdir()})
    return outputs


def test_score_writes_the_same_with_the_shipped_detector(tmp_path, two_nodes):
    responses = [f'a French chain of {n} shops' for n in range(30)]
    infile = write_records(tmp_path / 'in.jsonl', responses)
    with open(infile, 'a') as stream:
        stream.write('not json\n{"knowledge": 3, "response": ""}\n')
    options = {'measure': 'consistency', 'chunk_size': 4, 'allow_errors': True}
    options['actors'] = 2
    local, ray = both('score', infile, tmp_path, two_nodes.address, **options)
    assert local == ray
    assert len(local) == 2
    assert local['out.jsonl'].count(b'\n') == 32


def test_rerank_writes_the_same(tmp_path, two_nodes):
    pools = [
        {'knowledge': K, 'candidates': [f'{n} shops', 'in Limoges', 'a French chain']}
        for n in range(20)
    ]
    infile = tmp_path / 'in.jsonl'
    write_lines(infile, *pools)
    options = {'choose': 'precision', 'explain': 'none', 'chunk_size': 3}
    local, ray = both('rerank', infile, tmp_path, two_nodes.address, **options)
    assert local == ray


def test_filter_writes_the_same(tmp_path, two_nodes, monkeypatch):
    monkeypatch.setenv('PARLAI_Q2_CACHE', str(tmp_path / 'scores.sqlite'))
    outputs = []
    on_ray = ['--ray-address', two_nodes.address, '--ray-actors', '1']
    for name, engine in (('local', []), ('ray', on_ray)):
        folder = tmp_path / name
        folder.mkdir()
        # The same name in both, since the files hold it.
        monkeypatch.chdir(folder)
        words = 'filter -t q2:grounded_sample:annotated -dt valid --choose consistency'
        words += f' --chunk-size 16 --engine {name} --outfile kept.jsonl'
        run([*words.split(), *engine])
        written = ('kept.jsonl', 'kept.dropped.jsonl', 'kept.summary.txt')
        outputs.append([(folder / one).read_bytes() for one in written])
    assert outputs[0] == outputs[1]


def test_a_killed_node_and_one_that_joins_late_cost_only_time(engine, two_nodes):
    responses = [*map(str, range(200))]
    doomed = add_node(two_nodes)
    outputs = []
    with engine(actors=3, seconds=0.1) as running:
        for number, (_, lines) in enumerate(running.run(chunks(responses))):
            outputs += lines
            if number == 5:
                kill_node(doomed)
            if number == 10:
                add_node(two_nodes)
    assert outputs == expected(responses)


def test_ray_is_started_here_on_loopback_and_the_run_ends_with_it(tmp_path):
    code = 'from tests.scale.test_ray import run_on_this_machine as run; run(%r)'
    completed = run_python(code % str(tmp_path), cwd=ROOT)
    assert completed.returncode == 0, completed.stderr


def run_on_this_machine(folder):
    """In a process of its own, whose addresses are those of Ray alone."""
    from parlai_q2.scale.ray_engine import RayEngine, Resources

    os.environ.update(WATCHFUL)
    own = os.getpid()
    with RayEngine(ScoreJob(maker(folder)), Resources(actors=1)) as running:
        addresses = listening([own, *children(own)])
        assert addresses
        assert addresses <= {'0100007F', '0000000000000000FFFF00000100007F'}
        [(_, lines)] = running.run(chunks(['1', '2', '3']))
        assert lines == expected(['1', '2', '3'])
        (agent,) = (
            process
            for process in children(own)
            if b'dashboard/agent.py' in Path(f'/proc/{process}/cmdline').read_bytes()
        )
        os.kill(agent, signal.SIGKILL)
        with pytest.raises(WorkerError, match='Ray on this machine has ended'):
            for _ in running.run(chunks(['slow to come'] * 100)):
                pass
    deadline = time.monotonic() + 10
    while children(own) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not children(own)
