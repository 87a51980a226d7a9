"""
Measures what a record costs beside model inference, step by step::

    python -m benchmarks.preparation pairs.jsonl --scorer consistency

A scorer reads a file in chunks, as ``parlai_q2 score`` does, but random probabilities
stand in for what its classifier computes. The processor time of each step is printed;
without a file that of a few thousand pairs of the sample, as
:mod:`parlai_q2.benchmark.scale` writes them.
"""

import argparse
import random
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np

from parlai_q2.benchmark.measuring import StageClock, sample
from parlai_q2.benchmark.scale import write_records
from parlai_q2.cli.log import run_module
from parlai_q2.io.read import Record, read_records
from parlai_q2.io.write import encode_line
from parlai_q2.models.converted.engine import ConvertedEncoder
from parlai_q2.models.nli import SequenceNliModel
from parlai_q2.models.tokens import Tokens
from parlai_q2.runs import score_job
from parlai_q2.runs.file_run import cut_chunks
from parlai_q2.scorers import (
    Scorer,
    checked,
    consistency,
    grounded,
    load_scorer,
    premises,
    shell,
)

SEED = 20220523
# What parlai_q2.benchmark.scale would write, when no file is given.
PAIRS = 4000
MODEL, REST, ALL = 'model', 'the rest', 'all'
# The functions of each step; what they call of another step counts for that one.
STEPS: Mapping[str, Sequence[tuple[Any, str]]] = {
    'clean': [(shell.ReadExample, '__init__'), (shell.ReadExample, 'restore')],
    'split': [(consistency, 'index_passages'), (consistency, 'split_response')],
    'select': [(premises, 'choose_premises'), (grounded, 'knowledge_read')],
    'language': [
        (Scorer, 'is_foreign'),
        (Scorer, 'can_read'),
        (shell, '_foreign_share'),
    ],
    'amounts, names': [
        (checked, 'restate'),
        (checked, 'check_values'),
        (grounded, 'fast_parts'),
    ],
    'tokenise': [(Tokens, 'pairs'), (Tokens, 'count'), (SequenceNliModel, 'classify')],
    'claims': [(consistency, '_make_piece'), (consistency, 'make_claim')],
    'mistakes': [(shell, 'name_mistakes')],
    'read, write': [
        (sys.modules[__name__], 'read_file'),
        (score_job, 'score_line'),
        (sys.modules[__name__], 'encode_line'),
    ],
}


def read_file(infile: Path) -> list[Record]:
    """The records of a file."""
    return list(read_records(infile))


def process_file(scorer: Scorer, infile: Path) -> int:
    """Read, score and encode the records of a file; return their number."""
    records = read_file(infile)
    for chunk in cut_chunks(iter(records)):
        for line in score_job.score_records(scorer, chunk):
            encode_line(line)
    return len(records)


def time_steps(
    scorer: Scorer, infile: Path, steps: Mapping[str, Sequence[tuple[Any, str]]]
) -> dict[str, float]:
    """Process a file without inference; milliseconds a record of steps and the rest."""
    clock = StageClock(time.process_time)
    guess = random.Random(SEED).uniform

    def guess_classes(encoder: Any, inputs: Sequence[Any]) -> list[np.ndarray]:
        classes = len(encoder.head['bias'])
        return [np.array([guess(-3, 3) for _ in range(classes)]) for _ in inputs]

    with ExitStack() as stack:
        model = clock.timed(MODEL, guess_classes)
        stack.enter_context(patch.object(ConvertedEncoder, 'classes', model))
        for step, functions in steps.items():
            for owner, name in functions:
                function = clock.timed(step, getattr(owner, name))
                stack.enter_context(patch.object(owner, name, function))
        records = clock.timed(REST, process_file)(scorer, infile)
    return {step: 1000 * seconds / records for step, seconds in clock.seconds.items()}


def measure(scorer: Scorer, infile: Path, rounds: int) -> dict[str, float]:
    """
    Milliseconds of processor time a record: the median of each step and, without the
    clocks of the steps, of all together.
    """
    runs = [time_steps(scorer, infile, STEPS) for _ in range(rounds)]
    whole = [time_steps(scorer, infile, {})[REST] for _ in range(rounds)]
    steps = {
        step: median(run.get(step, 0.0) for run in runs) for step in (*STEPS, REST)
    }
    return {**steps, ALL: median(whole)}


def describe(scorer: str, infile: str, steps: Mapping[str, float]) -> str:
    """The milliseconds of each step as a table."""
    lines = [f'{scorer}, {infile}: milliseconds a record']
    lines += [f'  {step:<14} {steps[step]:.3f}' for step in (*STEPS, REST, ALL)]
    return '\n'.join(lines)


def main(args: Sequence[str] | None = None) -> None:
    """Print a table of steps."""
    parser = argparse.ArgumentParser(description='Preparation, step by step')
    parser.add_argument('infile', nargs='?', type=Path)
    parser.add_argument('--scorer', default='consistency')
    parser.add_argument('--rounds', type=int, default=5)
    options = parser.parse_args(args)
    scorer = load_scorer(options.scorer)
    with TemporaryDirectory() as folder:
        infile = options.infile
        if infile is None:
            infile = Path(folder) / 'pairs.jsonl'
            write_records(infile, sample(), PAIRS, PAIRS)
        steps = measure(scorer, infile, options.rounds)
    print(describe(options.scorer, str(options.infile or 'sample pairs'), steps))


if __name__ == '__main__':
    run_module(main)
