"""
Measures scorers on 200 answers of a chatbot in free words, with 12 kinds of errors::

    python -m benchmarks.free_words --scorers q2,grounded_fast,consistency
    python -m benchmarks.free_words --half held_out --preset base

``free_words.jsonl`` beside this file has 25 passages of as many domains, each with four
questions, a right and a wrong answer to each, and the kind of the error. They were
written for this project, not by a template. Every other passage served the design of
Q²'s preset; the others are held out.
"""

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from parlai_q2.claims import Label
from parlai_q2.cli.log import run_module
from parlai_q2.scorers import load_scorer
from parlai_q2.scorers.base import Scorer
from parlai_q2.sweep import roc_auc
from parlai_q2.turns import Example

ANSWERS = Path(__file__).with_name('free_words.jsonl')
HALVES = ('design', 'held_out')


class AnswerPair(NamedTuple):
    """A right and a wrong answer to one question, and the kind of the error."""

    knowledge: str
    right: str
    wrong: str
    error: str


def read_pairs(half: str | None = None) -> list[AnswerPair]:
    """The pairs of answers: of one of :data:`HALVES`, or all."""
    passages = map(json.loads, ANSWERS.read_text(encoding='utf-8').splitlines())
    return [
        AnswerPair(passage['knowledge'], pair['right'], pair['wrong'], pair['error'])
        for index, passage in enumerate(passages)
        if half is None or HALVES[index % 2] == half
        for pair in passage['pairs']
    ]


def measure_answers(scorer: Scorer, pairs: Sequence[AnswerPair]) -> dict[str, Any]:
    """
    How well a scorer tells right answers from wrong ones: ``auc``, ``accuracy`` of its
    labels, and for each kind of error the share of right answers above their wrong
    ones.
    """
    rights = scorer.score([Example(pair.knowledge, pair.right) for pair in pairs])
    wrongs = scorer.score([Example(pair.knowledge, pair.wrong) for pair in pairs])
    outcomes: dict[str, list[bool]] = defaultdict(list)
    for pair, right, wrong in zip(pairs, rights, wrongs, strict=True):
        outcomes[pair.error].append(right.value > wrong.value)
    hits = [score.label == Label.CONSISTENT for score in rights]
    hits += [score.label != Label.CONSISTENT for score in wrongs]
    return {
        'auc': roc_auc([s.value for s in rights], [s.value for s in wrongs]),
        'accuracy': fmean(hits),
        'by_error': {kind: fmean(values) for kind, values in sorted(outcomes.items())},
    }


def main() -> None:
    """Print the figures of each scorer."""
    parser = argparse.ArgumentParser(description='Right answers against wrong ones.')
    parser.add_argument('--scorers', default='q2,grounded_fast,consistency')
    parser.add_argument('--preset', default='mini')
    parser.add_argument('--half', choices=HALVES, help='default: all passages')
    args = parser.parse_args()
    pairs = read_pairs(args.half)
    for name in args.scorers.split(','):
        figures = measure_answers(load_scorer(name, args.preset), pairs)
        kinds = ', '.join(f'{k} {v:.2f}' for k, v in figures['by_error'].items())
        sys.stdout.write(
            f'{name}: AUC {figures["auc"]:.3f}, accuracy {figures["accuracy"]:.3f}, '
            f'right above wrong by kind of error: {kinds}\n'
        )


if __name__ == '__main__':
    run_module(main)
