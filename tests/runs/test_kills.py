"""
``score`` and ``filter`` killed with 9 before any change that they make to a file: what
the next run writes is equal to what one run writes, byte for byte.
"""

import multiprocessing
import os
import resource
import signal
import sys
import traceback

import pytest

from parlai_q2.io import write
from parlai_q2.scripts.filter import FilterScript
from tests.filtering import toys as filter_toys
from tests.runs.toys import ToyScorer, write_records
from tests.scoring import score_file

KILLED = -9
# What changes files: the process is killed before one of these calls.
CHANGES = ('write_lines', 'replace', 'fsync', 'unlink')
OUTPUTS = {
    'score': ('out.jsonl', 'out.jsonl.meta.json'),
    'filter': ('kept.jsonl', 'kept.dropped.jsonl', 'kept.summary.txt'),
}


def score(folder, chunk_size=4):
    """Score sixteen records, one of them bad and one with nothing to verify."""
    infile = folder.parent / 'in.jsonl'
    score_file(infile, folder / 'out.jsonl', ToyScorer(folder), chunk_size=chunk_size)


def filter_(folder):
    """Filter 36 turns in four calls of the scorer."""
    FilterScript.main(
        task=filter_toys.TASK,
        choose=filter_toys.SCORER,
        outfile='kept.jsonl',
        chunk_size=9,
    )


def score_on_full_disk(folder):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, hard))
    score(folder)


COMMANDS = {'score': score, 'filter': filter_}


# Its processes come from one without threads: a fork of a process whose threads hold
# locks may wait for ever.
PROCESSES = multiprocessing.get_context('forkserver')
PROCESSES.set_forkserver_preload([__name__])


def run_apart(folder, command, kill_at=None):
    """
    Run a command in a folder and a process of its own.

    :param kill_at: the number of the change before which the process kills itself.
    :return: its exit status, or minus the signal; 1 for an error.
    """
    folder.mkdir(exist_ok=True)
    process = PROCESSES.Process(target=run_and_exit, args=(folder, command, kill_at))
    process.start()
    process.join()
    return process.exitcode


def run_and_exit(folder, command, kill_at):
    status = 1
    try:
        os.chdir(folder)
        log = os.open('log.txt', os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.environ['PARLAI_Q2_CACHE'] = str(folder / 'scores.sqlite')
        # How often a file is synced would depend on the time that a run takes.
        write.SYNC_SECONDS = 0
        count = 0

        def watch(frame, event, argument):
            nonlocal count
            name = argument.__name__ if event == 'c_call' else frame.f_code.co_name
            if event in ('call', 'c_call') and name in CHANGES:
                count += 1
                if count == kill_at:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.setprofile(watch)
        command(folder)
        sys.setprofile(None)
        (folder / 'count.txt').write_text(str(count))
        status = 0
    except BaseException:
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(status)


@pytest.fixture(scope='module')
def whole(tmp_path_factory):
    """A folder with the input, and for each command the folder of a whole run."""
    top = tmp_path_factory.mktemp('whole')
    write_input(top)
    for name, command in COMMANDS.items():
        assert run_apart(top / name, command) == 0, (top / name / 'log.txt').read_text()
    return top


def write_input(folder):
    responses = [f'founded in {n}' for n in range(16)]
    responses[11] = ''
    path = write_records(folder / 'in.jsonl', responses)
    path.write_text(path.read_text().replace('founded in 7"}', ''))
    # Outputs name the time of their input.
    os.utime(path, ns=(0, 10**18))


def assert_equal_outputs(name, folder, whole):
    for output in OUTPUTS[name]:
        content = (folder / output).read_bytes()
        expected = (whole / name / output).read_bytes()
        top = str(folder.parent).encode()
        assert content.replace(top, str(whole).encode()) == expected, output
    left_over = [path.name for path in folder.iterdir() if '.part' in path.name]
    assert [part for part in left_over if part[0] != '.'] == []


@pytest.mark.parametrize('place', [0.0, 0.2, 0.4, 0.6, 0.8, 0.99])
@pytest.mark.parametrize('name', COMMANDS)
def test_a_killed_run_is_completed_by_the_next(whole, tmp_path, name, place):
    count = int((whole / name / 'count.txt').read_text())
    assert count > 5
    write_input(tmp_path)
    folder, kill_at = tmp_path / name, 1 + int(place * count)
    assert run_apart(folder, COMMANDS[name], kill_at) == KILLED
    part = folder / 'out.jsonl.part'
    if part.exists():
        # As if the system had written only a part of the last lines.
        os.truncate(part, max(0, part.stat().st_size - int(100 * place)))
    log = folder / 'log.txt'
    assert run_apart(folder, COMMANDS[name]) == 0, log.read_text()
    assert_equal_outputs(name, folder, whole)


def test_a_full_disk_is_named_and_the_run_goes_on_when_there_is_room(whole, tmp_path):
    write_input(tmp_path)
    folder = tmp_path / 'score'
    assert run_apart(folder, score_on_full_disk) == 1
    assert 'InputError: Cannot write' in (folder / 'log.txt').read_text()
    assert 0 < (folder / 'out.jsonl.part').stat().st_size <= 3000
    assert run_apart(folder, score) == 0
    # Of four chunks, the one that there was no room for was scored twice.
    calls = [path.read_text().count('\n') for path in folder.glob('worker.*')]
    assert sum(calls) == 5
    assert_equal_outputs('score', folder, whole)


def test_a_part_with_a_hole_is_scored_again_from_there(whole, tmp_path):
    # As after a loss of power: a file can be longer than what reached the disk.
    write_input(tmp_path)
    folder = tmp_path / 'score'
    count = int((whole / 'score' / 'count.txt').read_text())
    assert run_apart(folder, score, count // 2) == KILLED
    lines = (whole / 'score' / 'out.jsonl').read_bytes().splitlines(keepends=True)
    hole = b'\0' * 50 + b'\n'
    (folder / 'out.jsonl.part').write_bytes(b''.join([*lines[:5], hole, lines[6]]))
    assert run_apart(folder, score) == 0
    assert_equal_outputs('score', folder, whole)
