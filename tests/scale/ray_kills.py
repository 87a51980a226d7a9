"""
Kills actors, nodes and drivers of runs on Ray with 9 at random moments, and compares
what they write with what one process writes, byte for byte:

    python -m tests.scale.ray_kills --kills 20
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from pathlib import Path

from parlai_q2.scale.score_job import ScoreJob
from parlai_q2.scripts.score import score_file
from tests.conftest import ROOT
from tests.scale.nodes import add_node, children, cluster, kill_node
from tests.scale.toys import ToyScorer, maker, write_records

KINDS = ('actors', 'nodes', 'drivers')
# Records of a call, and seconds that it takes.
CHUNK, SECONDS = 4, 0.05
# Seconds between two kills in one run, at most.
APART = 2.0


class Killing:
    """
    An engine that kills something from time to time, between two results.

    :param kill: is called so often; True if there was something to kill.
    """

    def __init__(self, engine, kill, kills, seed):
        self.engine, self.kill, self.left = engine, kill, kills
        self.signature, self.random = engine.signature, random.Random(seed)

    def run(self, chunks):
        due = time.monotonic() + self.random.uniform(0, APART)
        for done in self.engine.run(chunks):
            yield done
            if self.left and time.monotonic() >= due and self.kill(self.random):
                self.left -= 1
                due = time.monotonic() + self.random.uniform(0, APART)


def actors(cluster):
    """The processes of a cluster's loaded actors."""
    found = []
    for process in children(os.getpid()):
        try:
            name = Path(f'/proc/{process}/cmdline').read_bytes()
        except OSError:
            continue
        if name.startswith(b'ray::Actor'):
            found.append(process)
    return found


def run_on_ray(cluster, infile, folder, wrap=lambda engine: engine):
    """Score a file with two actors."""
    from parlai_q2.scale.ray_engine import RayEngine, Resources

    with RayEngine(ScoreJob(maker(folder, SECONDS)), Resources(cluster, 2)) as engine:
        score_file(
            infile,
            folder / 'out.jsonl',
            ToyScorer(folder),
            engine=wrap(engine),
            chunk_size=CHUNK,
        )


def kill_actors(found, infile, folder, kills):
    """One run, in which so many actors are killed."""

    def kill(chance):
        there = actors(found)
        if there:
            os.kill(chance.choice(there), signal.SIGKILL)
        return bool(there)

    killing = []

    def wrap(engine):
        killing.append(Killing(engine, kill, kills, 'actors'))
        return killing[0]

    run_on_ray(found.address, infile, folder, wrap)
    return kills - killing[0].left


def kill_nodes(found, infile, folder, kills):
    """One run, in which so many nodes are killed; another one joins for each."""
    nodes = deque(found.worker_nodes)

    def kill(chance):
        node = chance.choice(nodes)
        nodes.remove(node)
        kill_node(node)
        nodes.append(add_node(found))
        return True

    killing = []

    def wrap(engine):
        killing.append(Killing(engine, kill, kills, 'nodes'))
        return killing[0]

    run_on_ray(found.address, infile, folder, wrap)
    return kills - killing[0].left


def kill_drivers(found, infile, folder, kills):
    """So many runs that are killed, one after the other, and one that ends."""
    command = [sys.executable, '-m', 'tests.scale.ray_kills', '--drive', found.address]
    command += [str(infile), str(folder)]
    chance, done = random.Random('drivers'), 0
    part = folder / 'out.jsonl.part'
    for kill in range(kills + 1):
        before = part.stat().st_size if part.exists() else 0
        driver = subprocess.Popen(command, cwd=ROOT)
        if kill == kills:
            assert driver.wait(600) == 0
            return done
        if kill % 4:
            # Anywhere in the work; every fourth time, while it starts.
            while driver.poll() is None and not grown(part, before):
                time.sleep(0.01)
        time.sleep(chance.uniform(0, APART))
        done += driver.poll() is None
        driver.kill()
        driver.wait()


def grown(part, before):
    return part.exists() and part.stat().st_size > before


def main(arguments=None):
    parser = argparse.ArgumentParser()
    parser.add_argument('--kills', type=int, default=20)
    parser.add_argument('--kinds', default=','.join(KINDS))
    parser.add_argument('--drive', nargs=3)
    given = parser.parse_args(arguments)
    if given.drive:
        address, infile, folder = given.drive
        run_on_ray(address, Path(infile), Path(folder))
        return
    with tempfile.TemporaryDirectory() as name, cluster(1, 1) as found:
        folder = Path(name)
        # Long enough that every kill comes before the end.
        count = int(given.kills * 2 * APART / SECONDS * CHUNK)
        for kind in given.kinds.split(','):
            kill = {'actors': kill_actors, 'nodes': kill_nodes, 'drivers': kill_drivers}
            records = count * 3 if kind == 'nodes' else count
            responses = [f'a chain of shops founded in {n}' for n in range(records)]
            infile = write_records(folder / f'{kind}.jsonl', responses)
            whole = folder / f'{kind}.whole.jsonl'
            score_file(infile, whole, ToyScorer(folder), chunk_size=CHUNK)
            place = folder / kind
            place.mkdir()
            began = time.monotonic()
            kills = kill[kind](found, infile, place, given.kills)
            same = (place / 'out.jsonl').read_bytes() == whole.read_bytes()
            sys.stdout.write(
                f'{kills} {kind} killed, {records} records, '
                f'{time.monotonic() - began:.0f} s: '
                f'{"the same bytes" if same else "ANOTHER OUTPUT"}\n'
            )
            sys.stdout.flush()
            assert same


if __name__ == '__main__':
    main()
