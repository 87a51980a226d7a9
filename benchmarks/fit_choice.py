"""
Fits how the choice combines what it reads of a reply, on labelled pools that the model
of relevance has not learned from:

    python -m benchmarks.fit_choice POOLS.jsonl=1 MORE.jsonl=2 --qa QA.jsonl.gz=2
        --begin FOLDER=2

The number is the weight of a set. A reply's utility is a weighted sum of its features.
The weights maximise the mean gain (:data:`GAINS`) of a choice by the softmax over the
utilities of a pool. Then a logistic regression turns utilities into log odds that
people would send a reply, if they would send every second one; they are multiplied by
:data:`SHARPNESS`. Prints the constants of
:mod:`parlai_q2.rerank.worth` and :class:`~parlai_q2.rerank.relevance.TurnReader`, and
the outcomes if each fifth of the passages is left to weights that were fitted on the
others.
"""

import argparse
from collections import Counter
from collections.abc import Sequence
from math import log
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.choice import OUTCOMES, balanced, outcome, qa_pools, rank, relevance_of
from parlai_q2.calibrate.fit import assign_folds, fit
from parlai_q2.evaluate.pools import group_pools
from parlai_q2.log_odds import logit, sigmoid
from parlai_q2.rerank import Candidate, Ranking, Reranker
from parlai_q2.rerank.candidate import with_agreement
from parlai_q2.rerank.relevance import TurnReader
from parlai_q2.rerank.worth import LEAST_SCORE, claims_nothing, rate_relevance
from parlai_q2.tasks.begin.reader import read_file
from parlai_q2.text.questions import only_declines
from parlai_q2.turns import Turn
from parlai_q2.zoo.train.relevance_pools import is_held_out_pool
from parlai_q2.zoo.train.rows import read_rows

FEATURES = (
    'value',
    'support',
    'best',
    'agreement',
    'relevance',
    'decline',
    'decline_relevance',
    'chat',
    'chat_relevance',
)
# The first features are of replies that claim something, the last ones of chat, whose
# weights are set by hand in the choice.
CLAIMS, CHAT = 5, 7
GAINS = {'best': 1.0, 'partly': 0.3, 'beside': 0.0, 'wrong': -1.0, 'fine': 0.0}
FOLDS = 5
# The weight of the weights' squares, for features with a standard deviation of 1.
PENALTY, STEPS, RATE = 0.003, 200, 0.08
QA_POOLS = 600
# These pools are harder than most turns.
SHARPNESS = 2


class LabelledPool(NamedTuple):
    """The features [M, F] of M replies, and what choosing each would mean."""

    passage: str
    features: np.ndarray
    outcomes: Sequence[str]


def read_features(
    reader: TurnReader, replies: Sequence[tuple[Candidate, Turn]]
) -> np.ndarray:
    """The features of ranked candidates; see :data:`FEATURES`."""
    logits = reader.predict_answers([(turn, c.text) for c, turn in replies])
    rows = np.zeros((len(replies), len(FEATURES)))
    for row, (candidate, turn), predicted in zip(rows, replies, logits, strict=True):
        if only_declines(candidate.text):
            row[CLAIMS:CHAT] = 1, logit(candidate.relevance or 0.0)
        elif claims_nothing(candidate.text, turn.text):
            row[CHAT:] = 1, logit(candidate.relevance or 0.0)
        else:
            row[:CLAIMS] = (
                log(max(candidate.guarded_score or 0.0, LEAST_SCORE)),
                log(sigmoid(predicted.support)),
                predicted.best,
                candidate.agreement or 0.0,
                rate_relevance(candidate, turn.text),
            )
    return rows


def read_pools(
    reranker: Reranker, pools: Sequence[dict[str, Any]], rankings: Sequence[Ranking]
) -> list[LabelledPool]:
    """The features of labelled pools, which the reranker has ranked."""
    reader = reranker.relevance_reader
    assert isinstance(reader, TurnReader)
    read = []
    for pool, ranking in zip(pools, rankings, strict=True):
        turn = Turn(ranking.passages, pool['history'])
        candidates = sorted(ranking, key=lambda c: c.place)
        features = read_features(reader, [(c, turn) for c in candidates])
        outcomes = [outcome(c) for c in pool['candidates']]
        read.append(LabelledPool(pool['knowledge'][0], features, outcomes))
    return read


def read_begin(reranker: Reranker, folder: str) -> list[LabelledPool]:
    """BEGIN's responses to the same knowledge; each has a turn of its own."""
    reader = reranker.relevance_reader
    assert isinstance(reader, TurnReader)
    rows = [
        row for path in sorted(Path(folder).glob('*.tsv')) for row in read_file(path)
    ]
    read = []
    for pool in group_pools(rows):
        if pool.mixed:
            alone = [
                reranker.rank(r.knowledge, [r.response], [r.text])
                for r in pool.responses
            ]
            together = with_agreement([ranking.chosen for ranking in alone])
            turns = [Turn(ranking.passages, [ranking.turn]) for ranking in alone]
            features = read_features(reader, list(zip(together, turns, strict=True)))
            outcomes = ['wrong' if wrong else 'fine' for wrong in pool.wrong]
            read.append(LabelledPool(pool.responses[0].knowledge, features, outcomes))
    return read


class ChoiceFitter:
    """Fits weights on N pools, by their N weights."""

    def __init__(self, pools: Sequence[LabelledPool], weights: Sequence[float]):
        import torch

        most = max(len(pool.outcomes) for pool in pools)
        self.scale = np.concatenate([pool.features for pool in pools]).std(0) + 1e-6
        shape = (len(pools), most)
        self.features = torch.zeros(*shape, len(FEATURES))
        self.absent, self.gains = torch.full(shape, -torch.inf), torch.zeros(shape)
        for n, pool in enumerate(pools):
            size = len(pool.outcomes)
            self.features[n, :size] = torch.tensor(pool.features / self.scale)
            self.absent[n, :size] = 0
            self.gains[n, :size] = torch.tensor([GAINS[o] for o in pool.outcomes])
        self.weights = torch.tensor(weights) / float(np.mean(weights))

    def fit(self, places: Sequence[int]) -> np.ndarray:
        """The weights [F] that choose best from the pools at some places."""
        import torch

        weights = torch.zeros(len(FEATURES), requires_grad=True)
        optimizer = torch.optim.Adam([weights], lr=RATE)
        for _ in range(STEPS):
            utilities = self.features[places] @ weights + self.absent[places]
            gains = (utilities.softmax(1) * self.gains[places]).sum(1)
            loss = PENALTY * (weights**2).sum() - (self.weights[places] * gains).mean()
            optimizer.zero_grad()
            torch.autograd.backward(loss)
            optimizer.step()
        fitted: np.ndarray = weights.detach().numpy() / self.scale
        return fitted


def print_constants(pools: Sequence[LabelledPool], weights: np.ndarray) -> None:
    """Print weights as log odds that people would send a reply."""
    judged = [pool for pool in pools if 'fine' not in pool.outcomes]
    features = np.concatenate([pool.features for pool in judged])
    sent = np.array([o == 'best' for pool in judged for o in pool.outcomes])
    # Each class counts as much as the other.
    counts = np.where(sent, 1 / sent.mean(), 1 / (1 - sent.mean()))
    line = fit((features @ weights)[:, None], sent, counts, ridge=0.0)
    weights, bias = SHARPNESS * line.weights * weights, SHARPNESS * line.intercept
    claims = features[:, CLAIMS:].sum(1) == 0
    agreement = features[claims, FEATURES.index('agreement')].mean()
    right_bias = bias + weights[FEATURES.index('agreement')] * agreement
    print('RIGHT_BIAS', round(right_bias, 2))
    print('TYPICAL_AGREEMENT', round(agreement, 2))
    for name, weight in list(zip(FEATURES, weights, strict=True))[:CHAT]:
        constant = bias if name == 'decline' else 0.0
        print(name.upper(), round(weight + constant, 2))


def print_relevance(relevance: Sequence[tuple[float, bool]]) -> None:
    """Print what makes relevance the probability that a reply answers."""
    values, answers = zip(*relevance, strict=True)
    log_odds = np.array([logit(value) for value in values])[:, None]
    line = fit(log_odds, np.array(answers), np.ones(len(answers)), ridge=0.0)
    (slope,), intercept = line.weights, line.intercept
    intercept += slope * TurnReader.CALIBRATION_INTERCEPT
    print('CALIBRATION_SLOPE', round(slope * TurnReader.CALIBRATION_SLOPE, 2))
    print('CALIBRATION_INTERCEPT', round(intercept, 2))


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description='Fits the weights of the choice')
    parser.add_argument('pools', nargs='+', metavar='POOLS=WEIGHT')
    parser.add_argument('--qa', metavar='QA=WEIGHT', required=True)
    parser.add_argument('--begin', metavar='FOLDER=WEIGHT', required=True)
    args = parser.parse_args(argv)
    reranker = Reranker()
    pools: list[LabelledPool] = []
    weights: list[float] = []
    names: list[str] = []
    relevance: list[tuple[float, bool]] = []
    for argument in (*args.pools, args.qa, args.begin):
        path, _, weight = argument.rpartition('=')
        if argument == args.begin:
            read = read_begin(reranker, path)
        elif argument == args.qa:
            questions = balanced(qa_pools(read_rows(path)), QA_POOLS)
            read = read_pools(reranker, questions, rank(reranker, questions))
        else:
            held_out = [pool for pool in read_rows(path) if is_held_out_pool(pool)]
            rankings = rank(reranker, held_out)
            read = read_pools(reranker, held_out, rankings)
            relevance += relevance_of(held_out, rankings)
        pools += read
        names += [path] * len(read)
        weights += [float(weight) / len(read)] * len(read)
    print_relevance(relevance)
    fitter = ChoiceFitter(pools, weights)
    print_constants(pools, fitter.fit(range(len(pools))))
    folds = assign_folds(np.array([pool.passage for pool in pools]), FOLDS)
    chosen: list[str] = [''] * len(pools)
    for fold in range(FOLDS):
        fitted = fitter.fit([n for n, f in enumerate(folds) if f != fold])
        for n, pool in enumerate(pools):
            if folds[n] == fold:
                chosen[n] = pool.outcomes[int((pool.features @ fitted).argmax())]
    for name in dict.fromkeys(names):
        of_set = [o for o, n in zip(chosen, names, strict=True) if n == name]
        counts = Counter(of_set)
        shares = [f'{o} {counts[o] / len(of_set):.3f}' for o in OUTCOMES]
        print(name, len(of_set), *shares)


if __name__ == '__main__':
    main()
