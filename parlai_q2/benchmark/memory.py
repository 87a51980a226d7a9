"""
Measures how much memory ``score`` and ``filter`` hold on a short file and on a long
one, each in a process of its own.

It compares the peak memory of the processes (VmHWM on Linux). One scorer compares words
and gets records that all differ. The other is the detector, on records with few
distinct texts, so that its model takes seconds instead of hours; its batches are as
full as they would be otherwise.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from parlai_q2.errors import Q2Error

# The share by which memory may grow on the long file.
TOLERANCE = 0.1
# Distinct texts among the detector's records; a batch of its model has 32.
DIFFERENT = 40
WORDS = (
    'bees honey wax hives dances flowers five eyes queens drones stings nectar'.split()
)
STREAMED = '-t parlai_q2.tasks.grounded_file.agents -dt valid:stream'
RUNS: Mapping[str, tuple[str, int | None]] = {
    'score by precision': ('score --scorer precision', None),
    'score by precision, 2 workers': ('score --scorer precision --workers 2', None),
    'score by consistency, cached': (
        'score --scorer consistency --cache-file scores.sqlite',
        DIFFERENT,
    ),
    'filter by precision': (f'filter {STREAMED} --scorer precision', None),
    'filter by consistency, cached': (
        f'filter {STREAMED} --scorer consistency --cache-file scores.sqlite',
        DIFFERENT,
    ),
}
# Runs a command, and prints its peak memory in megabytes on the last line.
CODE = """
import sys
from parlai_q2.__main__ import main
from parlai_q2.benchmark.clock import peak_memory_mb
sys.argv[1:] = {arguments!r}
main()
print(peak_memory_mb())
"""


def measure(small: int, large: int) -> dict[str, dict[str, float]]:
    """
    Run each of :data:`RUNS` on a short and on a long file.

    :param small: number of records of the short file, at least one.
    :param large: number of records of the long file.
    :return: for each run, the peak megabytes on both files, and their growth; 0 means
        none.
    """
    found = {}
    for name, (command, different) in RUNS.items():
        small_mb, large_mb = (
            peak_of(command, count, different) for count in (small, large)
        )
        found[name] = {
            'small_mb': small_mb,
            'large_mb': large_mb,
            'growth': large_mb / small_mb - 1,
        }
    return found


def peak_of(command: str, count: int, different: int | None) -> float:
    """
    The peak memory of a command, in megabytes.

    :param command: a command of ``parlai_q2``, without its files.
    :param count: number of records in its input.
    :param different: number of distinct texts among them; None if all differ.
    :raises Q2Error: when the command fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        infile = Path(folder, 'in.jsonl')
        if command.startswith('filter'):
            write_conversations(infile, records(count, different))
            source = f'--jsonfile-datapath {infile}'
        else:
            with open(infile, 'w', encoding='utf-8') as stream:
                for fields in records(count, different):
                    stream.write(json.dumps(fields) + '\n')
            source = f'--infile {infile}'
        arguments = [*f'{command} {source} --outfile out.jsonl'.split()]
        return run(arguments, folder)


def run(arguments: Sequence[str], folder: str) -> float:
    """
    Run a command of ``parlai_q2`` in a process of its own.

    :return: its peak memory in megabytes, without that of its workers.
    :raises Q2Error: when it fails.
    """
    code = CODE.format(arguments=list(arguments))
    done = subprocess.run(
        [sys.executable, '-W', 'ignore', '-c', code],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise Q2Error(
            f'parlai_q2 {" ".join(arguments)} failed: {done.stderr.strip()[-500:]}'
        )
    return float(done.stdout.split()[-1])


def records(count: int, different: int | None) -> Iterator[dict[str, Any]]:
    """
    Short records, generated one by one.

    :param count: how many records.
    :param different: number of distinct texts among them; None if all differ.
    """
    for n in range(count):
        number = n % (different or count)
        word, place = WORDS[number % len(WORDS)], number * 7 % 100_003
        yield {
            'id': n,
            'knowledge': f'The {word} of hive {place:06} were counted: {number:06}.',
            'response': f'There were {number:06} {word} in it.',
        }


def write_conversations(
    path: Path, records: Iterator[Mapping[str, Any]], turns: int = 10
) -> Path:
    """
    Write records as conversations that ParlAI's ``jsonfile`` reads. The knowledge comes
    with the first speaker's turn; the response is the second speaker's.

    :param path: where to write.
    :param records: the records.
    :param turns: maximum number of turns in a conversation.
    """
    with open(path, 'w', encoding='ascii') as stream:
        while some := list(islice(records, turns)):
            dialog = [
                [
                    {'id': 'one', 'text': 'Well?', 'knowledge': fields['knowledge']},
                    {'id': 'two', 'text': fields['response']},
                ]
                for fields in some
            ]
            stream.write(json.dumps({'dialog': dialog}) + '\n')
    return path


def describe(found: Mapping[str, Mapping[str, float]]) -> str:
    """
    Render what :func:`measure` returned as text.
    """
    return '\n'.join(
        f'{name:<32}{one["small_mb"]:>8.0f} MB {one["large_mb"]:>8.0f} MB '
        f'{one["growth"]:>+7.1%}'
        for name, one in found.items()
    )
