"""
Kills actors, nodes and drivers of runs on Ray with 9 at random moments, and compares
what they write with what one process writes, byte for byte:

    python -m tests.scale.ray_kills --kills 20

Runs of ``score``, and of what ``filter`` does after it has read a task.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from contextlib import closing
from pathlib import Path

from parlai_q2.filtering.judge import batches_of, judge_batches
from parlai_q2.filtering.policy import Policy
from parlai_q2.runs.job import LocalEngine
from parlai_q2.runs.label_scores import KeptScores, LabelJob
from parlai_q2.runs.score_job import ScoreJob
from parlai_q2.scripts.score import score_file
from tests.conftest import ROOT
from tests.runs.toys import ToyScorer, maker, write_records
from tests.scale.nodes import add_node, children, cluster, kill_node

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


def score(infile, folder, engine):
    """Score a file."""
    out = folder / 'out.jsonl'
    score_file(infile, out, ToyScorer(folder), engine=engine, chunk_size=CHUNK)


def filter_(infile, folder, engine):
    """Filter the episodes of a file, two turns each."""
    from parlai_q2.parlai.filtered_files import Judge, write_filtered

    # The same name in every folder, as the files hold it.
    os.chdir(folder)
    batches = batches_of(episodes(infile), chunk=CHUNK)
    with (
        KeptScores(Path('out.scores.jsonl'), engine, True) as kept,
        closing(kept.scores(batches)) as scored,
    ):
        judged = judge_batches(scored, Policy(0.4))
        judge = Judge('toy', engine.signature)
        write_filtered(judged, Path('out.jsonl'), judge, Policy(0.4))


def episodes(infile):
    with open(infile) as stream:
        for first in stream:
            yield [
                {
                    'text': 'Well?',
                    'knowledge': one['knowledge'],
                    'labels': [one['response']],
                }
                for one in map(json.loads, (first, next(stream)))
            ]


COMMANDS = {'score': (score, ScoreJob), 'filter': (filter_, LabelJob)}
# What they write, apart from when and how long.
WRITTEN = {
    'score': ['out.jsonl'],
    'filter': ['out.jsonl', 'out.dropped.jsonl', 'out.summary.txt', 'out.scores.jsonl'],
}


def run_on_ray(command, cluster, infile, folder, wrap=lambda engine: engine):
    """Run a command with two actors."""
    from parlai_q2.scale.ray_engine import RayEngine, Resources

    run, job = COMMANDS[command]
    with RayEngine(job(maker(folder, SECONDS)), Resources(cluster, 2)) as engine:
        run(infile, folder, wrap(engine))


def kill_actors(command, found, infile, folder, kills):
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

    run_on_ray(command, found.address, infile, folder, wrap)
    return kills - killing[0].left


def kill_nodes(command, found, infile, folder, kills):
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

    run_on_ray(command, found.address, infile, folder, wrap)
    return kills - killing[0].left


def kill_drivers(command, found, infile, folder, kills):
    """So many runs that are killed, one after the other, and one that ends."""
    driver_of = [sys.executable, '-m', 'tests.scale.ray_kills', '--drive', command]
    driver_of += [found.address, str(infile), str(folder)]
    chance, done = random.Random('drivers'), 0
    kept = 'out.jsonl' if command == 'score' else 'out.scores.jsonl'
    part = folder / f'{kept}.part'
    for kill in range(kills + 1):
        before = part.stat().st_size if part.exists() else 0
        driver = subprocess.Popen(driver_of, cwd=ROOT)
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
    parser.add_argument('--commands', default=','.join(COMMANDS))
    parser.add_argument('--drive', nargs=4)
    given = parser.parse_args(arguments)
    if given.drive:
        command, address, infile, folder = given.drive
        run_on_ray(command, address, Path(infile), Path(folder))
        return
    with tempfile.TemporaryDirectory() as name, cluster(1, 1) as found:
        for command in given.commands.split(','):
            for kind in given.kinds.split(','):
                folder = Path(name) / command / kind
                folder.mkdir(parents=True)
                compare(command, kind, found, folder, given.kills)


def compare(command, kind, found, folder, kills):
    """Kill so many of a kind, and compare what is written."""
    # Long enough that every kill comes before the end.
    count = int(kills * 2 * APART / SECONDS * CHUNK) * (3 if kind == 'nodes' else 1)
    said = ('a chain of shops founded in {}', 'an airline with {} aircraft')
    responses = [said[n % 3 == 0].format(n) for n in range(count)]
    infile = write_records(folder / 'in.jsonl', responses)
    run, job = COMMANDS[command]
    whole, killed = folder / 'whole', folder / 'killed'
    for place in (whole, killed):
        place.mkdir()
    run(infile, whole, LocalEngine(job(maker(whole))))
    began = time.monotonic()
    kill = {'actors': kill_actors, 'nodes': kill_nodes, 'drivers': kill_drivers}[kind]
    done = kill(command, found, infile, killed, kills)
    same = all(
        (killed / name).read_bytes() == (whole / name).read_bytes()
        for name in WRITTEN[command]
    )
    sys.stdout.write(
        f'{command}: {done} {kind} killed, {count} records, '
        f'{time.monotonic() - began:.0f} s: '
        f'{"the same bytes" if same else "ANOTHER OUTPUT"}\n'
    )
    sys.stdout.flush()
    assert same


if __name__ == '__main__':
    main()
