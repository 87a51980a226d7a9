"""Runs that are killed, for real, and gone on with."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from parlai_q2.scripts.score import score_file
from tests.conftest import ROOT
from tests.scale.toys import ToyScorer, alive, worker_ids, write_records

# What a person would write to score with a scorer of their own, in a file of its own:
# the workers import it again.
PROGRAM = """
import sys
from pathlib import Path

from tests.scale.toys import ToyScorer, maker

if __name__ == '__main__':
    from parlai_q2.scale.placement import Place
    from parlai_q2.scale.workers import in_workers
    from parlai_q2.scripts.score import score_file

    folder, seconds, workers = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    scorer = ToyScorer(folder, None, seconds)
    engine = None
    if workers > 1:
        places = [Place(None, 1)] * workers
        engine = in_workers(maker(folder, seconds), places, str(scorer.signature))
    folder = Path(folder)
    score_file(
        folder / 'in.jsonl', folder / 'out.jsonl', scorer, engine=engine, chunk_size=4
    )
"""


@pytest.fixture
def start(tmp_path):
    """Starts a run, slow or quick, in a process of its own."""
    program = tmp_path / 'program.py'
    program.write_text(PROGRAM)

    def start(workers, seconds):
        words = [sys.executable, '-W', 'ignore', str(program), str(tmp_path)]
        return subprocess.Popen(
            [*words, str(seconds), str(workers)],
            env={**os.environ, 'PYTHONPATH': str(ROOT)},
            stdout=subprocess.DEVNULL,
        )

    return start


def size_of(path):
    return path.stat().st_size if path.exists() else 0


def wait_for(condition, seconds=120):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, 'waited in vain'
        time.sleep(0.01)


@pytest.mark.slow
def test_a_run_killed_again_and_again_ends_with_the_same_file(tmp_path, start):
    workers = 2
    infile = write_records(tmp_path / 'in.jsonl', [f'in {n}' for n in range(60)])
    whole, part = tmp_path / 'whole.jsonl', tmp_path / 'out.jsonl.part'
    summary = score_file(infile, whole, ToyScorer(tmp_path), chunk_size=4)
    for _ in range(2):
        before = size_of(part)
        run = start(workers, seconds=0.2)
        wait_for(lambda before=before: size_of(part) > before)
        run.kill()
        run.wait()
        # Its workers notice, and end too.
        others = set(worker_ids(tmp_path)) - {os.getpid()}
        wait_for(lambda others=others: not any(map(alive, others)), seconds=30)
        assert 0 < size_of(part) < size_of(whole)
        assert not (tmp_path / 'out.jsonl').exists()
    # What a kill in the middle of a write leaves.
    with open(part, 'ab') as stream:
        stream.write(b'{"id": 7, "know')
    assert start(workers, seconds=0.0).wait(120) == 0
    assert (tmp_path / 'out.jsonl').read_bytes() == whole.read_bytes()
    assert json.loads((tmp_path / 'out.jsonl.meta.json').read_text()) == summary
    assert not [p for p in tmp_path.iterdir() if '.part' in p.name]
    # Only what was in work at a kill, or waited for its turn to be written, was scored
    # again: a few chunks of fifteen, and not all that came before.
    calls = [
        line
        for process in set(worker_ids(tmp_path)) - {os.getpid()}
        for line in (tmp_path / f'worker.{process}').read_text().splitlines()
    ]
    assert 15 <= len(calls) <= 15 + 2 * 2 * workers


@pytest.mark.slow
def test_ctrl_c_ends_the_workers_and_keeps_what_is_scored(tmp_path, start):
    write_records(tmp_path / 'in.jsonl', [f'in {n}' for n in range(60)])
    part = tmp_path / 'out.jsonl.part'
    run = start(2, seconds=0.2)
    wait_for(lambda: size_of(part) > 0)
    run.send_signal(signal.SIGINT)
    assert run.wait(60) != 0
    assert size_of(part) > 0
    assert not any(map(alive, worker_ids(tmp_path)))


def test_a_part_with_a_hole_is_scored_again_from_there(tmp_path):
    # As after a loss of power: a file can be longer than what reached the disk.
    infile = write_records(tmp_path / 'in.jsonl', [f'in {n}' for n in range(9)])
    whole, out = tmp_path / 'whole.jsonl', tmp_path / 'out.jsonl'
    scorer = ToyScorer(tmp_path)
    score_file(infile, whole, scorer, chunk_size=2)
    part = tmp_path / 'out.jsonl.part'
    lines = whole.read_bytes().splitlines(keepends=True)
    with pytest.raises(KeyboardInterrupt):
        score_file(infile, out, scorer, engine=interrupted, chunk_size=2)
    part.write_bytes(b''.join(lines[:5]) + b'\0' * 50 + b'\n' + lines[6])
    score_file(infile, out, scorer, chunk_size=2)
    assert out.read_bytes() == whole.read_bytes()


def interrupted(work):
    raise KeyboardInterrupt
    yield


def test_a_run_may_go_on_with_chunks_of_another_size(tmp_path):
    infile = write_records(tmp_path / 'in.jsonl', [f'in {n}' for n in range(9)])
    whole, out = tmp_path / 'whole.jsonl', tmp_path / 'out.jsonl'
    scorer = ToyScorer(tmp_path)
    score_file(infile, whole, scorer)
    with pytest.raises(KeyboardInterrupt):
        score_file(infile, out, scorer, engine=interrupted)
    lines = whole.read_bytes().splitlines(keepends=True)
    (tmp_path / 'out.jsonl.part').write_bytes(b''.join(lines[:5]))
    score_file(infile, out, scorer, chunk_size=2)
    assert out.read_bytes() == whole.read_bytes()
