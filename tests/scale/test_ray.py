"""
Ray Data on this machine, two workers: the same file, whatever becomes of a worker.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path

import pytest

from parlai_q2.__main__ import run
from parlai_q2.cli.commands import run_command
from parlai_q2.errors import ConfigError, MissingPackageError, WorkerError
from parlai_q2.scale.ray_engine import Share, ray_engine, share_of
from parlai_q2.scale.work import Source, Work
from parlai_q2.scripts.score import score_file
from tests.conftest import ROOT
from tests.models.checkpoints import tiny_roberta
from tests.scale.toys import (
    ToyScorer,
    maker,
    worker_ids,
    write_nested,
    write_records,
)

# Ray asks for a token of its own making by default, and keeps it in the home folder.
SETTINGS = {'RAY_USAGE_STATS_ENABLED': '0', 'RAY_AUTH_MODE': 'disabled'}


def test_without_ray_the_error_names_the_command(without_package, tmp_path):
    without_package('ray')
    infile = write_records(tmp_path / 'in.jsonl', ['a'])
    with pytest.raises(MissingPackageError, match=r'pip install "parlai_q2\[ray\]"'):
        run_command(
            'score',
            infile=str(infile),
            outfile=str(tmp_path / 'out.jsonl'),
            scorer='overlap',
            engine='ray',
        )


@pytest.mark.parametrize(
    'nodes, workers, gpu, expected',
    [
        ([{'CPU': 8.0}], None, False, Share(1, 8, 0)),  # one a machine
        ([{'CPU': 8.0}], 3, False, Share(3, 2, 0)),
        ([{'CPU': 8.0}, {'CPU': 4.0}], None, False, Share(2, 4, 0)),  # the smaller one
        ([{'CPU': 8.0}, {'CPU': 8.0}], 3, False, Share(3, 4, 0)),  # two on one of them
        ([{'CPU': 8.0, 'GPU': 4.0}], None, True, Share(4, 2, 1)),  # one a GPU
        ([{'CPU': 8.0, 'GPU': 4.0}], 2, True, Share(2, 2, 1)),
        ([{'CPU': 64.0}, {'CPU': 8.0, 'GPU': 1.0}], None, True, Share(1, 8, 1)),
        ([{'CPU': 2.0}, {}], None, False, Share(1, 2, 0)),  # a head without cores
    ],
)
def test_what_a_worker_takes_of_its_machine(nodes, workers, gpu, expected):
    assert share_of(nodes, workers, gpu) == expected


@pytest.mark.parametrize(
    'nodes, workers, gpu',
    [
        ([{'CPU': 2.0}], 3, False),
        ([{'CPU': 2.0}], None, True),
        ([{'CPU': 2}], 0, False),
    ],
)
def test_workers_that_do_not_fit_are_an_error(nodes, workers, gpu):
    with pytest.raises(ConfigError, match='--workers'):
        share_of(nodes, workers, gpu)


def test_devices_are_given_by_the_cluster(tmp_path):
    infile = write_records(tmp_path / 'in.jsonl', ['a'])
    with pytest.raises(ConfigError, match='--devices'):
        run_command(
            'score',
            infile=str(infile),
            outfile=str(tmp_path / 'out.jsonl'),
            engine='ray',
            devices='cpu',
        )


def test_a_cluster_that_does_not_start_is_no_traceback(monkeypatch, tmp_path):
    ray = pytest.importorskip('ray')

    def late(**options):
        raise Exception('The current node timed out during startup.')

    monkeypatch.setattr(ray, 'init', late)
    scorer = ToyScorer(tmp_path)
    engine = ray_engine(maker(tmp_path), str(scorer.signature), 1)
    infile = write_records(tmp_path / 'in.jsonl', ['a'])
    with pytest.raises(WorkerError, match='timed out during startup.*--engine local'):
        score_file(infile, tmp_path / 'out.jsonl', scorer, engine=engine)


@pytest.mark.slow
def test_the_command_on_a_cluster_of_its_own_with_a_model(tmp_path, monkeypatch):
    pytest.importorskip('ray')
    tiny_roberta(tmp_path / 'model')
    # Relative, as a person in this folder would write it.
    (tmp_path / 'tiny.yaml').write_text(
        'nli:\n  model: ./model\n'
        '  labels: {entailment: 0, neutral: 1, contradiction: 2}\n'
    )
    # What must not be taken for Python's own by Ray's processes.
    trap = "raise ImportError('imported from the working folder')"
    for name in ('random', 'secrets', 'parlai_q2'):
        (tmp_path / f'{name}.py').write_text(trap)
    write_records(tmp_path / 'in.jsonl', [f'band {n}' for n in range(7)] + [''])
    words = '--infile=in.jsonl --preset=tiny.yaml --scorer=nli --chunk-size=2'.split()
    done = subprocess.run(
        [Path(sys.executable).with_name('parlai_q2'), 'score', '--outfile=ray.jsonl']
        + [*words, '--engine=ray', '--workers=2'],
        cwd=tmp_path,
        env={**os.environ, **SETTINGS},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    monkeypatch.chdir(tmp_path)
    alone = run(['score', '--outfile=alone.jsonl', *words])
    assert json.loads((tmp_path / 'ray.jsonl.meta.json').read_text()) == alone
    assert alone['signature'].startswith('nli|')
    assert (tmp_path / 'ray.jsonl').read_bytes() == (
        tmp_path / 'alone.jsonl'
    ).read_bytes()


@pytest.fixture(scope='module')
def cluster():
    """Ray with two workers' room, whose processes find the toys; their mark."""
    ray = pytest.importorskip('ray')
    mark = uuid.uuid4().hex
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**SETTINGS, 'Q2_TEST': mark}.items():
            patch.setenv(name, value)
        patch.setenv('PYTHONPATH', str(ROOT))
        ray.init(
            address='local',
            num_cpus=2,
            include_dashboard=False,
            object_store_memory=80 * 1024**2,
            log_to_driver=False,
        )
        yield mark
        ray.shutdown()


@pytest.fixture
def scored_alike(cluster, tmp_path):
    """
    Scores responses with actors, in chunks of three, and in this process: whether both
    give the same.
    """

    def scored_alike(responses, seconds=0.0, workers=2):
        infile = write_records(tmp_path / 'in.jsonl', responses)
        scorer, out = ToyScorer(tmp_path), tmp_path / 'out.jsonl'
        make = maker(tmp_path, seconds)
        engine = ray_engine(make, str(scorer.signature), workers)
        score_file(infile, out, scorer, engine=engine, chunk_size=3)
        whole = tmp_path / 'whole.jsonl'
        score_file(infile, whole, scorer, chunk_size=3)
        return out.read_bytes() == whole.read_bytes()

    return scored_alike


@pytest.mark.slow
def test_a_worker_killed_in_mid_run_costs_nothing_but_its_chunk(
    scored_alike, tmp_path, cluster
):
    part, killed = tmp_path / 'out.jsonl.part', []

    def kill_one():
        deadline = time.monotonic() + 120
        while not killed and time.monotonic() < deadline:
            if part.exists() and part.stat().st_size:
                others = set(worker_ids(tmp_path)) - {os.getpid()}
                process = sorted(others)[0]
                assert cluster in Path(f'/proc/{process}/environ').read_text()
                os.kill(process, signal.SIGKILL)
                killed.append(part.read_bytes().count(b'\n'))
            time.sleep(0.01)

    killer = threading.Thread(target=kill_one)
    killer.start()
    responses = [f'founded in {n}' for n in range(60)]
    responses[0] = 'slow to come'
    assert scored_alike(responses, seconds=0.2)
    killer.join()
    assert killed and killed[0] < 60
    # Two workers, the one that came for the dead, and this process.
    assert len(worker_ids(tmp_path)) == 4


@pytest.mark.slow
def test_a_chunk_that_kills_every_worker_ends_the_run(scored_alike, tmp_path):
    responses = [f'founded in {n}' for n in range(60)]
    responses[50] = 'die always'
    with pytest.raises(WorkerError, match='Ray could not go on'):
        scored_alike(responses, seconds=0.02, workers=1)
    # What was scored before is kept.
    assert 0 < (tmp_path / 'out.jsonl.part').read_text().count('\n') <= 48


@pytest.mark.slow
def test_an_error_in_a_worker_says_what_it_was(scored_alike):
    with pytest.raises(WorkerError, match='^The model is not there. Fetch it.$'):
        scored_alike(['a', 'refuse'], workers=1)


@pytest.mark.slow
def test_a_worker_that_runs_out_of_memory_is_no_end(scored_alike, tmp_path):
    assert scored_alike(['a', 'fill once', 'b', 'c'], workers=1)
    # The one worker, the one that came for it, and this process.
    assert len(worker_ids(tmp_path)) == 3


@pytest.mark.slow
def test_a_record_of_very_many_levels_is_bad_here_too(cluster, tmp_path):
    infile, scorer = write_nested(tmp_path / 'in.jsonl'), ToyScorer(tmp_path)
    outs = [tmp_path / 'out.jsonl', tmp_path / 'whole.jsonl']
    engine = ray_engine(maker(tmp_path), str(scorer.signature), 1)
    for out, each in zip(outs, (engine, None), strict=True):
        summary = score_file(infile, out, scorer, engine=each, chunk_size=2)
        assert (summary['records'], summary['bad']) == (5, 3)
    assert outs[0].read_bytes() == outs[1].read_bytes()


@pytest.mark.slow
def test_why_the_input_cannot_be_read_is_said(cluster, tmp_path):
    engine = ray_engine(maker(tmp_path), str(ToyScorer(tmp_path).signature), 1)
    work = Work(Source(tmp_path / 'no.jsonl'), 0, iter(()))
    with pytest.raises(WorkerError, match='^Cannot read .*no.jsonl: No such file'):
        list(engine(work))
