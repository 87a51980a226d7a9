"""What a command holds in memory does not grow with its file."""

import json

import pytest

from tests.files import run_python

CODE = """
from parlai_q2.__main__ import main
from parlai_q2.bench.measuring import peak_memory_mb
main()
print(peak_memory_mb())
"""
SCORE = 'score --measure precision --infile in.jsonl --outfile out.jsonl'
NOTE = 'n' * 20_000
# The short file too has more records than are held at once: three batches of 256.
SHORT, LONG = 1000, 2500


def peak_of_scoring(lines, folder):
    """The peak memory of a process that scores lines, in megabytes."""
    folder.mkdir()
    with open(folder / 'in.jsonl', 'w') as stream:
        stream.writelines(json.dumps(line) + '\n' for line in lines)
    completed = run_python(CODE, *SCORE.split(), cwd=folder)
    assert completed.returncode == 0, completed.stderr
    return float(completed.stdout.split()[-1])


def record(number):
    return {
        'knowledge': f'The bees of hive {number:06} were counted.',
        'response': f'There were bees in hive {number:06}.',
        # What would be seen if records were kept.
        'note': NOTE,
    }


@pytest.mark.slow
def test_a_long_file_takes_no_more_memory_than_a_short_one(tmp_path):
    small, large = (
        peak_of_scoring(map(record, range(count)), tmp_path / str(count))
        for count in (SHORT, LONG)
    )
    assert small > 10
    assert large == pytest.approx(small, rel=0.1)
