"""
``score`` and ``filter`` killed with 9 at random places, from their first line to their
last: what the next run makes is equal to what one run makes, byte for byte.
"""

import json
import random
import resource
import signal

import pytest

from parlai_q2.scripts.filter import FilterScript
from parlai_q2.scripts.score import score_file
from tests.filtering import toys as filter_toys
from tests.runs.killing import Forked, lines_of, spread, tear
from tests.runs.toys import K, ToyScorer, write_records

KILLED = -9
RESPONSES = [f'a chain of shops founded in {n}' for n in range(60)]
OUTPUTS = {
    'score': ('out.jsonl', 'out.jsonl.meta.json'),
    'filter': ('kept.jsonl', 'kept.dropped.jsonl', 'kept.summary.txt'),
}


@pytest.fixture(scope='module')
def infile(tmp_path_factory):
    """Sixty records, one of them bad and one with nothing to verify."""
    path = write_records(tmp_path_factory.mktemp('in') / 'in.jsonl', RESPONSES)
    lines = path.read_text().splitlines()
    lines[17] = '{"id": 17, "response": '
    lines[41] = json.dumps({'id': 41, 'knowledge': K, 'response': ''})
    path.write_text('\n'.join(lines) + '\n')
    return path


def score(infile, folder, seconds=0.0):
    """Score in a folder, in chunks of four."""
    scorer = ToyScorer(folder, seconds)
    score_file(infile, folder / 'out.jsonl', scorer, chunk_size=4)


def filter_():
    """Filter 600 turns in the current folder; three calls of the scorer."""
    FilterScript.main(
        task='filter_toy_large', choose=filter_toys.SCORER, outfile='kept.jsonl'
    )


@pytest.fixture(scope='module')
def scored(infile, tmp_path_factory):
    """The folder of a scoring run that nobody killed."""
    folder = tmp_path_factory.mktemp('whole') / 'score'
    assert Forked(folder, lambda: score(infile, folder)).wait() == 0
    return folder


@pytest.fixture(scope='module')
def filtered(tmp_path_factory):
    """The folder of a filtering run that nobody killed."""
    folder = tmp_path_factory.mktemp('whole') / 'filter'
    assert Forked(folder, filter_).wait() == 0
    return folder


def assert_same(kind, folder, whole):
    for name in OUTPUTS[kind]:
        assert (folder / name).read_bytes() == (whole / name).read_bytes(), name
    part_files = [path.name for path in folder.iterdir() if '.part' in path.name]
    # Of a file that was being begun; it is hidden.
    assert [name for name in part_files if kind == 'score' or name[0] != '.'] == []


@pytest.mark.parametrize('place', spread('one'))
def test_scoring_killed_at_a_line(infile, scored, tmp_path, place):
    line = 1 + int(place * lines_of(scored))
    killed = Forked(tmp_path, lambda: score(infile, tmp_path), line)
    assert killed.wait() == KILLED
    tear(tmp_path / 'out.jsonl.part', random.Random(place).random())
    assert Forked(tmp_path, lambda: score(infile, tmp_path)).wait() == 0
    assert_same('score', tmp_path, scored)


@pytest.mark.parametrize('place', spread('filter'))
def test_filtering_killed_at_a_line(filtered, tmp_path, place):
    line = 1 + int(place * lines_of(filtered))
    assert Forked(tmp_path, filter_, line).wait() == KILLED
    assert Forked(tmp_path, filter_).wait() == 0
    assert_same('filter', tmp_path, filtered)


def full_disk(size):
    """
    Let no file of this process grow beyond so many bytes, as on a disk without room.
    """
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))


def test_scoring_on_a_full_disk_says_so_and_goes_on_when_there_is_room(
    infile, scored, tmp_path
):
    def run():
        full_disk(8000)
        score(infile, tmp_path)

    assert Forked(tmp_path, run).wait() == 1
    assert 'InputError: Cannot write' in (tmp_path / 'said.txt').read_text()
    assert 0 < (tmp_path / 'out.jsonl.part').stat().st_size <= 8000
    assert Forked(tmp_path, lambda: score(infile, tmp_path)).wait() == 0
    # Of fifteen chunks, the one that there was no room for was scored twice.
    calls = [path.read_text().count('\n') for path in tmp_path.glob('worker.*')]
    assert sum(calls) == 16
    assert_same('score', tmp_path, scored)


def test_a_part_with_a_hole_is_scored_again_from_there(tmp_path):
    # As after a loss of power: a file can be longer than what reached the disk.
    infile = write_records(tmp_path / 'in.jsonl', [f'in {n}' for n in range(9)])
    whole, out = tmp_path / 'whole.jsonl', tmp_path / 'out.jsonl'
    scorer = ToyScorer(tmp_path)
    score_file(infile, whole, scorer, chunk_size=2)
    part = tmp_path / 'out.jsonl.part'
    lines = whole.read_bytes().splitlines(keepends=True)
    with pytest.raises(KeyboardInterrupt):
        score_file(infile, out, Interrupted(tmp_path), chunk_size=2)
    part.write_bytes(b''.join(lines[:5]) + b'\0' * 50 + b'\n' + lines[6])
    score_file(infile, out, scorer, chunk_size=2)
    assert out.read_bytes() == whole.read_bytes()


class Interrupted(ToyScorer):
    def score(self, examples):
        raise KeyboardInterrupt
