"""Computes a page's figures over all its responses."""

from dataclasses import dataclass, field
from typing import Mapping, Optional, Sequence

from parlai_q2.bootstrap import Interval, mean_interval
from parlai_q2.report.candidates import before_and_after
from parlai_q2.report.changes import BINS as DIFFERENCE_BINS

BINS = 10


@dataclass
class Mean:
    """A mean that grows by one value at a time."""

    count: int = 0
    total: float = 0.0

    def add(self, value: float) -> None:
        """Add one value."""
        self.count += 1
        self.total += value

    @property
    def value(self) -> Optional[float]:
        """The mean; None for no values."""
        return self.total / self.count if self.count else None


@dataclass
class Figures:
    """
    The figures of a report over all its responses.

    :param score: mean score of all responses, including those that are not verifiable.
    :param labels: number of responses by label.
    :param classes: mean score by human label.
    :param bins: number of responses by score, in tenths, and label; a score of 1 is in
        the last bin.
    :param questions: number of questions over all responses.
    :param comparisons: number of questions by comparison.
    :param fallbacks: number of responses that had no valid question and were compared
        as a whole.
    :param first: mean score of the generator's first candidates, over reranked turns.
    :param chosen: mean score of the chosen candidates, over the same turns.
    :param changed: number of reranked turns that chose another candidate than the
        first.
    :param signatures: the signatures of the scores, in order of appearance.
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
        Add one response.

        :param entry: what :func:`parlai_q2.report.entries.read_entry` returned.
        """
        score, label = entry['score'], entry['label']
        self.score.add(score)
        _count(self.labels, label)
        _count(self.bins[bin_of(score)], label)
        if entry['class']:
            self.classes.setdefault(entry['class'], Mean()).add(score)
        asked = [verdict for verdict in entry['verdicts'] if verdict['question']]
        self.questions += len(asked)
        self.with_questions += bool(asked)
        for verdict in asked:
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


@dataclass
class TwoRunFigures:
    """
    The figures of two runs over all pairs.

    :param before: mean score of the first run.
    :param after: mean score of the second run.
    :param differences: second score minus first score of each pair, in [-1, 1].
    :param labels: number of pairs by label before and after.
    :param classes: mean scores before and after, by human label.
    :param bins: number of pairs by difference; pairs of equal scores are in no bin.
    """

    before: Mean = field(default_factory=Mean)
    after: Mean = field(default_factory=Mean)
    differences: list[float] = field(default_factory=list)
    labels: dict[tuple[str, str], int] = field(default_factory=dict)
    classes: dict[str, tuple[Mean, Mean]] = field(default_factory=dict)
    bins: list[int] = field(default_factory=lambda: [0] * DIFFERENCE_BINS)

    def add(self, change: Mapping) -> None:
        """
        Add one pair.

        :param change: what
            :func:`parlai_q2.report.changes.change_of` returned.
        """
        after = change['after']
        before = change.get('before', after)
        self.before.add(before['score'])
        self.after.add(after['score'])
        self.differences.append(change['difference'])
        labels = before['label'], after['label']
        self.labels[labels] = self.labels.get(labels, 0) + 1
        if change['class']:
            means = self.classes.setdefault(change['class'], (Mean(), Mean()))
            for mean, side in zip(means, (before, after), strict=True):
                mean.add(side['score'])
        if change['bin'] >= 0:
            self.bins[change['bin']] += 1

    @property
    def flips(self) -> int:
        """Number of pairs whose label changed."""
        return sum(n for (old, new), n in self.labels.items() if old != new)

    @property
    def higher(self) -> int:
        """Number of pairs whose score rose."""
        return sum(difference > 0 for difference in self.differences)

    @property
    def lower(self) -> int:
        """Number of pairs whose score fell."""
        return sum(difference < 0 for difference in self.differences)

    def interval(self) -> Optional[Interval]:
        """
        The mean difference with its 95 % bootstrap interval, which draws whole pairs;
        None without pairs.
        """
        return mean_interval(self.differences) if self.differences else None


def bin_of(score: float) -> int:
    """
    The index of a score in a histogram of tenths: 0.3 is in [0.3, 0.4), 1 is in the
    last bin.
    """
    return min(int(score * BINS), BINS - 1)


def _count(counts: dict[str, int], name: str) -> None:
    counts[name] = counts.get(name, 0) + 1
