"""
Measures the processor time of a record, beside model inference::

    python -m benchmarks.preparation pairs.jsonl --scorer consistency

A scorer reads a file in chunks, as ``parlai_q2 score`` does, but random scores stand in
for what its classifier computes. Without a file, it reads a few thousand pairs of the
sample, as :mod:`parlai_q2.bench.scale` writes them.
"""

import argparse
import random
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np

from parlai_q2.bench.measuring import sample
from parlai_q2.bench.scale import write_records
from parlai_q2.cli.log import run_module
from parlai_q2.io.read import read_records
from parlai_q2.io.write import encode_line
from parlai_q2.models.converted.engine import ConvertedEncoder
from parlai_q2.runs.file_run import cut_chunks
from parlai_q2.runs.score_job import score_records
from parlai_q2.scorers import Scorer, load_scorer

PAIRS = 4000  # of the sample, without a file
guess = random.Random(20220523).uniform


def guess_classes(encoder: Any, inputs: Sequence[Any]) -> list[np.ndarray]:
    """Random scores of the classes of each input."""
    classes = len(encoder.head['bias'])
    return [np.array([guess(-3, 3) for _ in range(classes)]) for _ in inputs]


def measure(scorer: Scorer, infile: Path) -> dict[str, float]:
    """Milliseconds a record to read, score and encode a file, and of ``all`` three."""
    start = time.process_time()
    records = list(read_records(infile))
    read = time.process_time()
    with patch.object(ConvertedEncoder, 'classes', guess_classes):
        chunks = [score_records(scorer, chunk) for chunk in cut_chunks(iter(records))]
    scored = time.process_time()
    for chunk in chunks:
        for line in chunk:
            encode_line(line)
    end = time.process_time()
    seconds = {'read': read - start, 'score': scored - read, 'write': end - scored}
    seconds['all'] = end - start
    return {stage: 1000 * s / len(records) for stage, s in seconds.items()}


def main(args: Sequence[str] | None = None) -> None:
    """Print the median of each stage."""
    parser = argparse.ArgumentParser(description='The time beside model inference')
    parser.add_argument('infile', nargs='?', type=Path)
    parser.add_argument('--scorer', default='consistency')
    parser.add_argument('--rounds', type=int, default=5)
    options = parser.parse_args(args)
    scorer = load_scorer(options.scorer)
    with TemporaryDirectory() as folder:
        infile = options.infile or Path(folder) / 'pairs.jsonl'
        if options.infile is None:
            write_records(infile, sample(), PAIRS, PAIRS)
        runs = [measure(scorer, infile) for _ in range(options.rounds)]
    name = options.infile or 'sample pairs'
    print(f'{options.scorer}, {name}: milliseconds a record')
    for stage in runs[0]:
        print(f'  {stage:<5} {median(run[stage] for run in runs):.3f}')


if __name__ == '__main__':
    run_module(main)
