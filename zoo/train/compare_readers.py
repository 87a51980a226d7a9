"""
Shows how another reader changes Q2, by putting the same questions to several readers.

    python -m parlai_q2.zoo.train.compare_readers --begin begin --most 250 \\
      --questions questions.jsonl --readers shipped:q2_mini/question_answering,out

Questions are generated once and kept in ``--questions``, so that another reader costs
only its own answers and their comparison. For each reader and each corpus of BEGIN's
development set (Dziri et al. 2022), this prints

- the AUC of ``q2`` (fully attributable against not fully; generic responses are left
  out);
- the number of valid questions for each response;
- by class, the share of them without an answer in the knowledge;
- how much the AUC differs from the first reader's, with a paired bootstrap interval
  over responses.
"""

import argparse
import random
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Optional, Sequence

import numpy as np
from parlai.utils import logging

from parlai_q2.evaluate.statistics import roc_auc
from parlai_q2.models.protocols import QuestionGenerator
from parlai_q2.models.question_answering import SpanQuestionAnswerer
from parlai_q2.presets import load_preset
from parlai_q2.q2.metric import Q2Result, q2
from parlai_q2.records import Label
from parlai_q2.scorers.factories import make_q2
from parlai_q2.zoo.train.data import read_rows, write_rows
from parlai_q2.zoo.train.grounded_data import BEGIN_CORPORA, begin_examples

ROUNDS = 2000
CHUNK = 64
Pair = tuple[str, str]


class KeptQuestions:
    """
    A question generator that asks about each span only once, across runs.

    :param generator: the generator that asks.
    :param path: a JSON lines file of ``span``, ``context`` and ``questions``.
    """

    def __init__(self, generator: QuestionGenerator, path: Path):
        self._generator, self._path = generator, path
        rows = read_rows(path) if path.exists() else []
        self._known = {(r['span'], r['context']): r['questions'] for r in rows}

    @property
    def settings(self) -> dict[str, Any]:
        return self._generator.settings

    def generate(self, pairs: Sequence[Pair]) -> list[list[str]]:
        new = [p for p in dict.fromkeys(pairs) if p not in self._known]
        if new:
            self._known.update(zip(new, self._generator.generate(new), strict=True))
            write_rows(
                self._path,
                (
                    {'span': span, 'context': context, 'questions': questions}
                    for (span, context), questions in self._known.items()
                ),
            )
        return [self._known[pair] for pair in pairs]


@dataclass(frozen=True)
class Scored:
    """
    One reader's results on one corpus.

    :param values: Q2 of each response.
    :param grounded: whether people called the response fully attributable.
    :param results: the metric's results.
    """

    values: np.ndarray
    grounded: np.ndarray
    results: list[Q2Result]

    @property
    def auc(self) -> float:
        return auc_of(self.values, self.grounded)

    def unanswered(self, grounded: bool) -> float:
        """
        The share of questions about one class that the knowledge does not answer.
        """
        verdicts = [
            verdict
            for result, of_class in zip(self.results, self.grounded, strict=True)
            if of_class == grounded
            for verdict in result.verdicts
        ]
        return float(np.mean([v.knowledge_answer is None for v in verdicts]))

    def questions(self) -> float:
        """
        The number of valid questions for each response.
        """
        return float(np.mean([len(result.verdicts) for result in self.results]))


class Difference(NamedTuple):
    """
    The difference between two AUCs, with a 95 % interval.
    """

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f'{self.value:+.3f} [{self.low:+.3f}, {self.high:+.3f}]'


def auc_of(values: np.ndarray, grounded: np.ndarray) -> float:
    """
    The area under the ROC curve for these values.
    """
    return roc_auc(values[grounded].tolist(), values[~grounded].tolist())


def difference(
    first: Scored, second: Scored, rounds: int = ROUNDS, seed: int = 0
) -> Difference:
    """
    The second AUC minus the first, on the same responses.

    :param first: N responses' values.
    :param second: the values of the same N responses.
    :param rounds: how often to resample the responses; each class is resampled by
        itself.
    :param seed: decides the resampling.
    """
    rng = np.random.default_rng(seed)
    classes = [np.flatnonzero(first.grounded), np.flatnonzero(~first.grounded)]
    found = []
    for _ in range(rounds):
        rows = np.concatenate([rng.choice(c, len(c)) for c in classes])
        truth = first.grounded[rows]
        found.append(
            auc_of(second.values[rows], truth) - auc_of(first.values[rows], truth)
        )
    low, high = np.quantile(found, [0.025, 0.975])
    return Difference(second.auc - first.auc, float(low), float(high))


def sampled(folder: Path, most: int, seed: int) -> dict[str, list[dict[str, Any]]]:
    """
    BEGIN's development responses that are not generic, at most ``most`` from each
    corpus.
    """
    records = [r for r in begin_examples(folder) if r['q2_label'] != Label.GENERIC]
    chosen = {}
    for corpus in BEGIN_CORPORA:
        of_corpus = [r for r in records if r['corpus'] == corpus]
        random.Random(seed).shuffle(of_corpus)
        chosen[corpus] = of_corpus[:most]
    return chosen


def main(argv: Optional[Sequence[str]] = None) -> None:
    """
    Print the comparison.
    """
    parser = argparse.ArgumentParser(description='Q2 with several readers')
    parser.add_argument('--begin', type=Path, required=True)
    parser.add_argument('--readers', required=True, help='comma-separated models')
    parser.add_argument('--questions', type=Path, required=True)
    parser.add_argument(
        '--most',
        type=int,
        default=250,
        help='number of responses to take from each corpus',
    )
    parser.add_argument('--preset', default='mini')
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument(
        '--outfile', type=Path, help='file to write the values to, as JSON lines'
    )
    args = parser.parse_args(argv)
    preset = load_preset(args.preset)
    scorer = make_q2(preset)
    generator = KeptQuestions(scorer.models.generator, args.questions)
    section = preset.model('question_answering')
    corpora = sampled(args.begin, args.most, args.seed)
    kept: list[dict[str, Any]] = []
    first: dict[str, Scored] = {}
    for reader in args.readers.split(','):
        answerer = SpanQuestionAnswerer(
            replace(section, model=reader), **section.settings
        )
        models = replace(scorer.models, generator=generator, answerer=answerer)
        for corpus, records in corpora.items():
            results: list[Q2Result] = []
            for k in range(0, len(records), CHUNK):
                part = records[k : k + CHUNK]
                pairs = [(r['knowledge'], r['response']) for r in part]
                results += q2(pairs, models, scorer.q2_settings)
            truth = np.array([r['q2_label'] == Label.CONSISTENT for r in records])
            scored = Scored(np.array([r.value for r in results]), truth, results)
            base = first.setdefault(corpus, scored)
            logging.info(
                f'{reader} {corpus}: {len(records)} responses, AUC {scored.auc:.3f}, '
                f'{scored.questions():.2f} questions, unanswered '
                f'{scored.unanswered(True):.3f} attributable, '
                f'{scored.unanswered(False):.3f} not; less the first '
                f'{difference(base, scored)}'
            )
            kept += [
                {'reader': reader, 'id': r['id'], 'q2': result.value}
                for r, result in zip(records, results, strict=True)
            ]
    if args.outfile:
        write_rows(args.outfile, kept)


if __name__ == '__main__':
    main()
