"""
The model card's table: a scorer on the Q2 paper's 600 annotated responses.

    python -m parlai_q2.zoo.evaluate --folder data/q2_wow --scorer q2 --preset mini

``--folder`` holds the four csv files of the task ``q2_wow``. It is a test set: look at
it when a model is released, and tune on something else.
"""

import argparse
import json
import logging
from pathlib import Path
from statistics import fmean
from typing import Any

from parlai_q2.annotated_turn import AnnotatedTurn
from parlai_q2.meta_eval.auc import roc_auc
from parlai_q2.records import Comparison, Example, Label, Score
from parlai_q2.scorers import load_scorer
from parlai_q2.tasks.q2_wow.reader import SYSTEMS, read_system_file

LABELS = (Label.CONSISTENT, Label.INCONSISTENT)


def evaluate(
    turns: list[AnnotatedTurn], scores: list[Score], threshold: float
) -> dict[str, Any]:
    """
    The figures of one row of the table.

    :param turns: annotated responses of both classes.
    :param scores: as many scores.
    :param threshold: a score of at most this is called inconsistent.
    :return: ``auc``, ``accuracy``, mean score by class, and, for Q2, its questions.
    """
    pairs = list(zip(turns, scores, strict=True))
    by_label = {
        label: [s.value for t, s in pairs if t.label == label] for label in LABELS
    }
    verdicts = [v for s in scores for v in s.verdicts]
    unanswered = sum(v.comparison == Comparison.NO_ANSWER for v in verdicts)
    return {
        'responses': len(pairs),
        'auc': roc_auc(*(by_label[label] for label in LABELS)),
        'accuracy': fmean(
            (s.value > threshold) == (t.label == Label.CONSISTENT) for t, s in pairs
        ),
        **{label: fmean(values) for label, values in by_label.items()},
        'questions': len(verdicts) / len(pairs),
        'no_answer': unanswered / len(verdicts) if verdicts else 0.0,
        'coverage': fmean(bool(s.verdicts) for s in scores),
    }


def evaluate_folder(folder: Path, scorer: str, preset: str) -> dict[str, Any]:
    """
    Score the four files and make the table.

    :return: rows by system, ``all`` among them, and the signature.
    """
    turns = [
        turn
        for system in SYSTEMS
        for label in LABELS
        for turn in read_system_file(
            str(folder / f'{system}_{label}.csv'), system, label
        )
    ]
    loaded = load_scorer(scorer, preset)
    scores = loaded.score([Example(t.knowledge, t.response) for t in turns])
    table: dict[str, Any] = {'signature': str(loaded.signature)}
    for name in ('all', *SYSTEMS):
        kept = [
            (t, s)
            for t, s in zip(turns, scores, strict=True)
            if name in ('all', t.more['system'])
        ]
        table[name] = evaluate(
            [t for t, _ in kept], [s for _, s in kept], loaded.threshold
        )
    return table


def main() -> None:
    """
    Print the table as JSON.
    """
    parser = argparse.ArgumentParser(description='A scorer on the Q2 test set')
    parser.add_argument('--folder', type=Path, required=True)
    parser.add_argument('--scorer', default='q2')
    parser.add_argument('--preset', default='mini')
    args = parser.parse_args()
    logging.getLogger('transformers').setLevel(logging.ERROR)
    table = evaluate_folder(args.folder, args.scorer, args.preset)
    print(json.dumps(table, indent=1))


if __name__ == '__main__':
    main()
