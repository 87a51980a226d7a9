"""
The figures over all responses of a report.
"""

from dataclasses import dataclass, field
from typing import Mapping, Optional, Sequence

from parlai_q2.report.candidates import before_and_after

BINS = 10


@dataclass
class Mean:
    """
    A mean that grows by one value at a time.
    """

    count: int = 0
    total: float = 0.0

    def add(self, value: float) -> None:
        """
        Count one value more.
        """
        self.count += 1
        self.total += value

    @property
    def value(self) -> Optional[float]:
        """
        The mean; None for no values.
        """
        return self.total / self.count if self.count else None


@dataclass
class Figures:
    """
    What a report says of all its responses together.

    :param score: over all responses, those that were not verifiable included.
    :param labels: responses by label.
    :param classes: scores by what a human said of the response.
    :param bins: responses by score, in tenths, and label; 1 is in the last.
    :param questions: questions over all responses.
    :param comparisons: questions by comparison.
    :param fallbacks: responses without a valid question, compared as a whole.
    :param first: the scores of the generator's first candidates, of reranked turns.
    :param chosen: the scores of the candidates chosen instead.
    :param changed: reranked turns in which another than the first was chosen.
    :param signatures: the recipes of the scores, in order of appearance.
    """

    score: Mean = field(default_factory=Mean)
    labels: dict[str, int] = field(default_factory=dict)
    classes: dict[str, Mean] = field(default_factory=dict)
    bins: list[dict[str, int]] = field(
        default_factory=lambda: [{} for _ in range(BINS)]
    )
    questions: int = 0
    with_questions: int = 0
    comparisons: dict[str, int] = field(default_factory=dict)
    fallbacks: int = 0
    reranked: int = 0
    changed: int = 0
    first: Mean = field(default_factory=Mean)
    chosen: Mean = field(default_factory=Mean)
    signatures: dict[str, int] = field(default_factory=dict)

    def add(self, entry: Mapping) -> None:
        """
        Count one response more.

        :param entry: what :func:`parlai_q2.report.entries.read_entry` gave.
        """
        score, label = entry['score'], entry['label']
        self.score.add(score)
        _count(self.labels, label)
        _count(self.bins[bin_of(score)], label)
        if entry['class']:
            self.classes.setdefault(entry['class'], Mean()).add(score)
        self.questions += len(entry['verdicts'])
        self.with_questions += bool(entry['verdicts'])
        for verdict in entry['verdicts']:
            _count(self.comparisons, verdict['comparison'])
        self.fallbacks += entry['fallback']
        if entry['signature']:
            _count(self.signatures, entry['signature'])
        if entry['rerank']:
            self._add_rerank(entry['rerank'])

    def _add_rerank(self, candidates: Sequence[Mapping]) -> None:
        first, chosen = before_and_after(candidates)
        self.reranked += 1
        if first is None or chosen is None:
            return
        self.changed += first is not chosen
        if first['score'] is not None and chosen['score'] is not None:
            self.first.add(first['score'])
            self.chosen.add(chosen['score'])


def bin_of(score: float) -> int:
    """
    The place of a score in a histogram of tenths: 0.3 is in [0.3, 0.4), 1 in the last.
    """
    return min(int(score * BINS), BINS - 1)


def _count(counts: dict[str, int], name: str) -> None:
    counts[name] = counts.get(name, 0) + 1
