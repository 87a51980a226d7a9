"""
Prints how well a scorer does on the examples of ``grounded_data``, corpus by corpus.

    python -m parlai_q2.zoo.train.by_corpus --scored scored.jsonl

``scored.jsonl`` is those examples as scored by ``parlai_q2 score``, with any scorer.
The table has, for each corpus and as means, the area under the ROC curve and the
balanced accuracy at the threshold that the scores' signature names.
"""

import argparse
from typing import NamedTuple

import numpy as np
from parlai.utils import logging

from parlai_q2.errors import InputError
from parlai_q2.evaluate.statistics import roc_auc
from parlai_q2.records import Label
from parlai_q2.scorers.base import DEFAULT_THRESHOLD
from parlai_q2.zoo.train.data import read_rows


class Row(NamedTuple):
    """
    One corpus: the number of examples, AUC, and the mean of the two classes'
    accuracies.
    """

    corpus: str
    examples: int
    auc: float
    accuracy: float


def rows_of(path: str) -> list[Row]:
    """
    One row for each corpus, in alphabetical order, and one for their means.

    :param path: JSON lines as written by ``parlai_q2 score``. Generic responses and
        those that could not be scored are left out.
    :raises InputError: when no corpus has both classes.
    """
    records = read_rows(path)
    signature = next((r['signature'] for r in records if r.get('signature')), '')
    said = dict(p.split(':', 1) for p in signature.split('|') if ':' in p)
    threshold = float(said.get('threshold', DEFAULT_THRESHOLD))
    values: dict[str, dict[str, list[float]]] = {}
    for r in records:
        if r.get('q2_label') in (Label.CONSISTENT, Label.INCONSISTENT) and 'score' in r:
            of = values.setdefault(r.get('corpus', 'all'), {})
            of.setdefault(r['q2_label'], []).append(r['score'])
    rows = [
        Row(
            corpus,
            sum(map(len, of.values())),
            roc_auc(of[Label.CONSISTENT], of[Label.INCONSISTENT]),
            balanced_accuracy(of[Label.CONSISTENT], of[Label.INCONSISTENT], threshold),
        )
        for corpus, of in sorted(values.items())
        if len(of) == 2
    ]
    if not rows:
        raise InputError(
            f'{path} has no corpus with consistent and inconsistent responses. Score '
            'the examples of parlai_q2.zoo.train.grounded_data.'
        )
    aucs, accuracies = [r.auc for r in rows], [r.accuracy for r in rows]
    total = sum(r.examples for r in rows)
    mean = Row('mean', total, float(np.mean(aucs)), float(np.mean(accuracies)))
    return [*rows, mean]


def balanced_accuracy(
    positive: list[float], negative: list[float], threshold: float
) -> float:
    """The mean, over both classes, of the share on the right side of a threshold."""
    above = float(np.mean(np.array(positive) > threshold))
    below = float(np.mean(np.array(negative) <= threshold))
    return (above + below) / 2


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description='A scored file, corpus by corpus')
    parser.add_argument('--scored', required=True)
    lines = ['| corpus | examples | AUC | balanced accuracy |', '|---|---|---|---|']
    lines += [
        f'| {r.corpus} | {r.examples} | {r.auc:.3f} | {r.accuracy:.3f} |'
        for r in rows_of(parser.parse_args().scored)
    ]
    logging.info('\n' + '\n'.join(lines))


if __name__ == '__main__':
    main()
