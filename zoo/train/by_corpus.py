"""
Prints how well a scorer does on the examples of ``grounded_data``, corpus by corpus,
and how much better or worse than another.

    python -m parlai_q2.zoo.train.by_corpus --scored scored.jsonl --beside other.jsonl

The files are those examples as scored by ``parlai_q2 score``, or held-out values of
:mod:`parlai_q2.zoo.train.grounded`. Responses to one passage are drawn together for the
95 % bootstrap intervals, and the same in both files.
"""

import argparse
from collections.abc import Sequence
from typing import Optional

import numpy as np
from parlai.utils import logging

from parlai_q2.claims import Label
from parlai_q2.errors import InputError
from parlai_q2.evaluate.statistics import Sweep
from parlai_q2.intervals import Interval, intervals
from parlai_q2.text.normalize import passage_key
from parlai_q2.zoo.train.data import read_labelled

MEAN = 'mean'


def aucs(
    path: str, beside: Optional[str] = None
) -> list[tuple[str, int, list[Interval]]]:
    """
    The AUC of each corpus, and the mean over corpora.

    :param beside: another scored file with the same examples.
    :return: rows of name, number of responses, and the AUC; with a second file also
        that one's AUC and the first one's gain over it.
    :raises InputError: when the files have different examples, or a corpus has only one
        class.
    """
    files = [
        {r['id']: r for r in read_labelled(p, 'id', 'corpus', 'score')}
        for p in (path, beside)
        if p
    ]
    if len({frozenset(rows) for rows in files}) > 1:
        raise InputError(f'{path} and {beside} have different examples.')
    rows = list(files[0].values())
    corpora = np.array([r['corpus'] for r in rows])
    right = np.array([r['q2_label'] == Label.CONSISTENT for r in rows])
    names = sorted(set(corpora))
    parts = [
        (corpora == name, [float(scored[one]['score']) for one in files[0]])
        for scored in files
        for name in names
    ]
    sweeps = [(use, Sweep(np.array(values)[use], right[use])) for use, values in parts]

    def statistic(weights: np.ndarray) -> np.ndarray:
        of_each = [s.areas(weights[:, use])[0] for use, s in sweeps]
        table = np.stack(of_each, 1).reshape(len(weights), len(files), len(names))
        table = np.concatenate([table, table.mean(2, keepdims=True)], 2)
        if beside:
            gain = table[:, :1] - table[:, 1:]
            table = np.concatenate([table, gain], 1)
        return table.reshape(len(weights), -1)

    groups = [passage_key(r['knowledge']) for r in rows]
    found = intervals(statistic, len(rows), groups=groups)
    width = len(names) + 1
    return [
        (
            name,
            int((corpora == name).sum()) if name != MEAN else len(rows),
            [one for one in found[n::width] if one is not None],
        )
        for n, name in enumerate([*names, MEAN])
    ]


def main(argv: Optional[Sequence[str]] = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description='AUC, corpus by corpus')
    parser.add_argument('--scored', required=True)
    parser.add_argument('--beside', help='another file, to compare with')
    args = parser.parse_args(argv)
    lines = ['| corpus | examples | AUC |', '|---|---|---|']
    if args.beside:
        lines = ['| corpus | examples | AUC | beside | gain |', '|---|---|---|---|---|']
    lines += [
        f'| {name} | {count} | {" | ".join(map(str, found))} |'
        for name, count, found in aucs(args.scored, args.beside)
    ]
    logging.info('\n' + '\n'.join(lines))


if __name__ == '__main__':
    main()
