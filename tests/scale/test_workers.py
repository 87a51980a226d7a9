"""
Workers on this machine: the same file as without them, whatever becomes of a worker.
"""

import json
import os
import re
import signal
from pathlib import Path

import pytest

from parlai_q2.errors import WorkerError
from parlai_q2.scale.placement import Place
from parlai_q2.scale.work import chunks_of
from parlai_q2.scale.worker_process import WorkerProcess
from parlai_q2.scale.workers import AHEAD, MAX_DEATHS, in_workers
from parlai_q2.scripts.score import score_file
from tests.scale.toys import (
    ToyScorer,
    alive,
    maker,
    worker_ids,
    write_nested,
    write_records,
)

TWO = [Place(None, 1)] * 2


@pytest.fixture
def run(tmp_path):
    """Scores responses with two workers, in chunks of three."""

    def run(responses, name='out', where=TWO, make=None, **options):
        infile = write_records(tmp_path / 'in.jsonl', responses)
        out = tmp_path / f'{name}.jsonl'
        scorer = ToyScorer(tmp_path)
        make = make or maker(tmp_path, options.pop('seconds', 0.0))
        engine = in_workers(make, where, str(scorer.signature)) if where else None
        score_file(infile, out, scorer, engine=engine, chunk_size=3, **options)
        return out.read_bytes()

    return run


def many(count=40, **special):
    """Responses, some of them special by their place."""
    return [special.get(f'at{n}', f'a chain founded in {n}') for n in range(count)]


@pytest.mark.skipif(not Path('/proc/self/status').exists(), reason='needs /proc')
def test_ctrl_c_does_not_reach_a_worker_that_still_imports(tmp_path):
    def blocked(process):
        (line,) = re.findall(
            'SigBlk:\\s*(\\w+)', Path(f'/proc/{process}/status').read_text()
        )
        return bool(int(line, 16) & 1 << (signal.SIGINT - 1))

    worker = WorkerProcess(maker(tmp_path, 0.0), TWO[0], 'any')
    try:
        assert blocked(worker._process.pid) and not blocked(os.getpid())
    finally:
        worker.stop()
        assert worker.end() == 'by SIGTERM'


def test_two_workers_write_what_one_process_writes_in_its_order(run, tmp_path):
    # The first chunk takes longer than all the others together.
    responses = many(at0='slow to come', at7='', at20='1969')
    assert run(responses) == run(responses, 'alone', where=None)
    assert len(worker_ids(tmp_path)) == 3  # this process has a scorer too


def test_bad_records_come_out_in_their_place(tmp_path):
    infile, scorer = tmp_path / 'in.jsonl', ToyScorer(tmp_path)
    lines = [json.dumps({'knowledge': 'k', 'response': 'r'})] * 10
    lines[0] = 'not json'
    lines[7] = json.dumps({'knowledge': 'k', 'signature': 's'})
    infile.write_text('\n'.join(lines))
    engine = in_workers(maker(tmp_path), TWO, str(scorer.signature))
    outs = [tmp_path / 'out1.jsonl', tmp_path / 'out2.jsonl']
    summaries = [
        score_file(infile, out, scorer, engine=e, chunk_size=2)
        for out, e in zip(outs, (None, engine))
    ]
    assert outs[0].read_bytes() == outs[1].read_bytes()
    assert summaries[0] == summaries[1]
    found = [json.loads(line) for line in outs[1].read_text().splitlines()]
    assert [n for n, r in enumerate(found) if 'error' in r] == [0, 7]
    assert [n for n, r in enumerate(found) if 'signature' in r] == [1]


def test_a_record_of_very_many_levels_is_bad_whoever_scores(tmp_path):
    infile = write_nested(tmp_path / 'in.jsonl')
    scorer = ToyScorer(tmp_path)
    engine = in_workers(maker(tmp_path), TWO, str(scorer.signature))
    outs = [tmp_path / 'out1.jsonl', tmp_path / 'out2.jsonl']
    for out, each in zip(outs, (None, engine), strict=True):
        score_file(infile, out, scorer, engine=each, chunk_size=2)
    assert outs[0].read_bytes() == outs[1].read_bytes()
    found = [json.loads(line) for line in outs[1].read_text().splitlines()]
    errors = {n: line['error'] for n, line in enumerate(found) if 'error' in line}
    assert list(errors) == [2, 3, 4]
    assert all('more than 200 levels' in error for error in errors.values())


def test_a_worker_that_dies_is_replaced_and_its_chunk_scored_again(run, tmp_path):
    found = run(many(at10='die once'), where=TWO[:1])
    assert [json.loads(line)['id'] for line in found.splitlines()] == list(range(40))
    assert (tmp_path / 'died').exists()
    # The one worker, the one that came for it, and this process.
    assert len(worker_ids(tmp_path)) == 3


def test_a_chunk_that_kills_every_worker_ends_the_run_and_names_its_lines(
    run, tmp_path
):
    with pytest.raises(WorkerError, match='lines 10 to 12 .*SIGKILL.*--workers'):
        run(['linger'] * 10 + ['die always'] + ['linger'] * 20)
    # What stood before it is kept, and a run that can do it goes on there.
    kept = (tmp_path / 'out.jsonl.part').read_text().splitlines()
    assert len(kept) == 9
    assert not any(map(alive, set(worker_ids(tmp_path)) - {os.getpid()}))


def test_an_error_in_a_worker_says_what_it_was(run):
    with pytest.raises(WorkerError, match='ZeroDivisionError: of the scorer'):
        run(many(at10='raise'))
    with pytest.raises(WorkerError, match=r'^The model is not there. Fetch it.$'):
        run(many(at11='refuse'))


def test_a_worker_that_runs_out_of_memory_has_its_chunk_scored_by_another(
    run, tmp_path
):
    found = run(many(9, at4='fill once'), where=TWO[:1])
    assert [json.loads(line)['id'] for line in found.splitlines()] == list(range(9))
    assert len(worker_ids(tmp_path)) == 3
    with pytest.raises(WorkerError, match='lines 4 to 6 .*out of memory.*--workers'):
        run(many(9, at4='fill always'), 'other', where=TWO[:1])


def test_a_worker_whose_scorer_is_another_is_refused(tmp_path):
    infile = write_records(tmp_path / 'in.jsonl', many(3))
    engine = in_workers(maker(tmp_path), TWO, 'another signature')
    with pytest.raises(WorkerError, match='scorer differs'):
        score_file(infile, tmp_path / 'o.jsonl', ToyScorer(tmp_path), engine=engine)


def cannot_be_imported_there(folder):
    class Maker:
        def __reduce__(self):
            return __import__, ('no_such_module_in_any_process',)

        def __call__(self, device):
            raise AssertionError

    return Maker()


def test_workers_that_cannot_start_end_the_run(run, tmp_path):
    told = f'{MAX_DEATHS} worker processes in a row.*fewer --workers.*__main__'
    with pytest.raises(WorkerError, match=told):
        run(many(3), make=cannot_be_imported_there(tmp_path))


def test_no_more_is_read_than_the_workers_need(tmp_path):
    infile = write_records(tmp_path / 'in.jsonl', many(200, at0='slow to come'))
    read = []

    def watched(chunks):
        for chunk in chunks:
            read.append(chunk.number)
            yield chunk

    signature = str(ToyScorer(tmp_path).signature)
    engine = in_workers(maker(tmp_path), TWO, signature)
    chunks = watched(chunks_of(infile, None, 1))
    ahead = [len(read) - given for given, _ in enumerate(engine(chunks))]
    assert len(ahead) == 200
    # The first chunk is slow: the other worker goes ahead, and then waits for it.
    assert max(ahead) == AHEAD * len(TWO)


def test_workers_get_their_devices_and_threads(tmp_path, monkeypatch):
    monkeypatch.delenv('OMP_NUM_THREADS', raising=False)
    where = [Place('toy:0', 3), Place('toy:1', 3)]
    infile = write_records(tmp_path / 'in.jsonl', ['slow'] * 4)
    signature = str(ToyScorer(tmp_path).signature)
    engine = in_workers(maker(tmp_path), where, signature)
    list(engine(chunks_of(infile, None, 1)))
    places = sorted(path.read_text() for path in tmp_path.glob('place.*'))
    assert places == ['None None', 'toy:0 3', 'toy:1 3']
    assert 'OMP_NUM_THREADS' not in os.environ
