"""
Fits the coefficients of the scorers ``grounded`` and ``grounded_fast``.

    python -m parlai_q2.zoo.train.grounded --scored scored.jsonl --outfile grounded.json

``scored.jsonl`` is the examples of :mod:`parlai_q2.zoo.train.grounded_data` as scored
by ``parlai_q2 score --measure grounded``, with any weights.

Every corpus counts the same, and both classes within it (generic responses belong to
neither). No weight is negative. The metrics beside the weights are of examples that the
model had not seen: k-fold cross-validation, with all examples of one passage in one
fold, and each corpus left out in turn.
"""

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple, Optional, Sequence

import numpy as np
from parlai.utils import logging

from parlai_q2.calibrate.logistic import (
    FOLD_SEED,
    Fit,
    Quality,
    even_weights,
    fit,
    folds_of,
    quality,
)
from parlai_q2.claims import NOT_VERIFIABLE_VALUE, Label
from parlai_q2.errors import InputError
from parlai_q2.evaluate.sets import ALL
from parlai_q2.io.write import write_text
from parlai_q2.scorers.grounded import FAST_FEATURES, FEATURES, GROUNDED, GROUNDED_FAST
from parlai_q2.signature import Signature
from parlai_q2.text.normalize import passage_key
from parlai_q2.zoo.train.data import read_labelled

# What the shipped coefficients were fitted and measured with.
RIDGE, FOLDS = 0.003, 5
DIGITS = 4


class Data(NamedTuple):
    """
    B examples.

    :param x: features [B, F].
    :param y: 1 for supported, 0 for not; [B].
    :param generic: which examples the scorer calls generic, [B]; their value is capped.
    :param knowledge: the passage that each should be grounded in, [B].
    :param preset: the preset that computed the features.
    """

    x: np.ndarray
    y: np.ndarray
    corpora: np.ndarray
    generic: np.ndarray
    knowledge: np.ndarray
    preset: str

    def capped(self, p: np.ndarray) -> np.ndarray:
        """The values that the scorer gives: at most 0.5 for a generic response."""
        return np.where(self.generic, np.minimum(p, NOT_VERIFIABLE_VALUE), p)


def read_scored(path: str) -> Data:
    """
    Read the examples of a scored file that are supported or not supported.

    :raises InputError: when there are none, when they lack a feature, or when a corpus
        has only one class.
    """
    rows = read_labelled(path, 'parts')
    signature = next((r['signature'] for r in rows if r.get('signature')), '')
    settings = Signature.from_text(signature).texts()
    missing = [f for r in rows for f in FEATURES if f not in r['parts']]
    if missing:
        raise InputError(
            f'{path} has no feature {missing[0]!r}. Score it with "parlai_q2 score '
            '--measure grounded".'
        )
    return Data(
        np.array([[r['parts'][f] for f in FEATURES] for r in rows]),
        np.array([float(r['q2_label'] == Label.CONSISTENT) for r in rows]),
        np.array([r.get('corpus', ALL) for r in rows]),
        np.array([r['label'] == Label.GENERIC for r in rows]),
        np.array([passage_key(r['knowledge']) for r in rows]),
        settings.get('preset', 'custom'),
    )


def columns(data: Data, features: Sequence[str]) -> Data:
    """The same examples with only some of the features."""
    return data._replace(x=data.x[:, [FEATURES.index(f) for f in features]])


def held_out(data: Data, parts: np.ndarray) -> np.ndarray:
    """
    Probabilities [B] from models fitted without the examples' own part, generic
    responses capped.

    :param parts: the part of each example, [B].
    """
    p = np.zeros(len(data.y))
    for part in np.unique(parts):
        out = parts == part
        p[out] = fit_even(data, ~out).probability(data.x[out])
    return data.capped(p)


def fit_even(data: Data, use: np.ndarray) -> Fit:
    """
    Fit on the examples that ``use`` [B] marks, so that corpora count the same, and both
    classes within each.
    """
    y = data.y[use]
    return fit(data.x[use], y, even_weights(list(data.corpora[use]), y), RIDGE)


def by_corpus(data: Data, p: np.ndarray) -> dict[str, Quality]:
    """The quality of probabilities on each corpus."""
    return {
        str(c): quality(p[data.corpora == c], data.y[data.corpora == c])
        for c in np.unique(data.corpora)
    }


def entry(data: Data, features: Sequence[str]) -> dict[str, Any]:
    """One scorer's weights and the metrics measured with them, as they are written."""
    model = fit_even(data, np.ones(len(data.y), dtype=bool))
    splits = {f'{FOLDS}-fold': folds_of(data.knowledge, FOLDS)}
    if len(np.unique(data.corpora)) > 1:
        splits['corpus left out'] = data.corpora
    measured: dict[str, Any] = {}
    for name, parts in splits.items():
        found = by_corpus(data, held_out(data, parts))
        measured[name] = {c: _rounded(q._asdict()) for c, q in found.items()}
        for corpus, q in found.items():
            logging.info(
                f'{name}, {corpus}: AUC {q.auc:.3f}, log-loss {q.log_loss:.3f}, ECE '
                f'{q.ece:.3f}, accuracy {q.accuracy:.3f}'
            )
    weights = _rounded(dict(zip(features, model.weights.tolist(), strict=True)))
    logging.info(f'weights {weights}, intercept {model.intercept:.3f}')
    return {
        'weights': weights,
        'intercept': round(model.intercept, DIGITS),
        'measured': measured,
    }


def _rounded(values: dict[str, float]) -> dict[str, float]:
    return {name: round(float(value), DIGITS) for name, value in values.items()}


def main(args: Optional[Sequence[str]] = None) -> None:
    """Fit both scorers and write their coefficients."""
    parser = argparse.ArgumentParser(description='Coefficients of "grounded"')
    parser.add_argument('--scored', required=True, help='a scored file')
    parser.add_argument('--outfile', type=Path, required=True)
    options = parser.parse_args(args)
    data = read_scored(options.scored)
    counts = Counter(zip(data.corpora.tolist(), data.y.tolist(), strict=True))
    content = {
        'preset': data.preset,
        'examples': {
            str(c): {
                Label.CONSISTENT: counts[c, 1.0],
                Label.INCONSISTENT: counts[c, 0.0],
            }
            for c in np.unique(data.corpora)
        },
        'ridge': RIDGE,
        'folds': FOLDS,
        'seed': FOLD_SEED,
        GROUNDED: entry(columns(data, FEATURES), FEATURES),
        GROUNDED_FAST: entry(columns(data, FAST_FEATURES), FAST_FEATURES),
    }
    write_text(options.outfile, json.dumps(content, indent=1) + '\n')
    logging.info(f'{len(data.y)} examples; wrote {options.outfile}')


if __name__ == '__main__':
    main()
