"""Runs that are killed, for real, and gone on with."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from parlai_q2.errors import InputError
from parlai_q2.io.write import ResumableWriter
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


def wait_for(condition, seconds=120):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, 'waited in vain'
        time.sleep(0.01)


def size(path):
    return path.stat().st_size if path.exists() else 0


@pytest.mark.slow
@pytest.mark.parametrize('workers', [1, 2])
def test_a_run_killed_again_and_again_ends_with_the_same_file(tmp_path, start, workers):
    infile = write_records(tmp_path / 'in.jsonl', [f'in {n}' for n in range(60)])
    whole, part = tmp_path / 'whole.jsonl', tmp_path / 'out.jsonl.part'
    summary = score_file(infile, whole, ToyScorer(tmp_path), chunk_size=4)
    for _ in range(2):
        before = size(part)
        run = start(workers, seconds=0.2)
        wait_for(lambda before=before: size(part) > before)
        run.kill()
        run.wait()
        # Its workers notice, and end too.
        others = set(worker_ids(tmp_path)) - {os.getpid()}
        wait_for(lambda others=others: not any(map(alive, others)), seconds=30)
        assert 0 < size(part) < size(whole)
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
    wait_for(lambda: size(part) > 0)
    run.send_signal(signal.SIGINT)
    assert run.wait(60) != 0
    assert size(part) > 0
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


def test_two_runs_do_not_write_one_file(tmp_path):
    out = tmp_path / 'out.jsonl'
    first = ResumableWriter(out, {'run': 1})
    first.write([{'n': 1}])
    with pytest.raises(InputError, match='Another run is writing'):
        ResumableWriter(out, {'run': 2})
    first.finish({})
    assert out.read_bytes() == b'{"n": 1}\n'
    second = ResumableWriter(out, {'run': 2})
    second.write([{'n': 2}])
    second.finish({})
    assert out.read_bytes() == b'{"n": 2}\n'


MEASURED = """
import sys
from pathlib import Path
from parlai_q2.benchmark.clock import peak_memory_mb
from parlai_q2.scripts.score import score_file
from parlai_q2.scorers import load_scorer
for infile in sys.argv[1:]:
    score_file(Path(infile), Path(infile + '.out'), load_scorer('precision'))
    print('peak', peak_memory_mb())
"""


def test_memory_does_not_grow_with_the_file(tmp_path):
    infiles = [tmp_path / 'small.jsonl', tmp_path / 'large.jsonl']
    for infile, count in zip(infiles, (100, 3000), strict=True):
        with open(infile, 'w') as stream:
            for n in range(count):
                record = {
                    'knowledge': 'a b c',
                    'response': f'a {n}',
                    'pad': 'x' * 50_000,
                }
                stream.write(json.dumps(record) + '\n')
    assert infiles[1].stat().st_size > 140e6
    done = subprocess.run(
        [sys.executable, '-W', 'ignore', '-c', MEASURED, *infiles],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    small, large = (
        float(line.split()[1])
        for line in done.stdout.splitlines()
        if line.startswith('peak ')
    )
    # A chunk of 4 MiB, its text and its lines: not the 150 MB of the file.
    assert large - small < 50
