"""
Computes the overall figures of two runs, over the responses that both have.
"""

from dataclasses import dataclass, field
from typing import Iterable, Mapping, Optional

from parlai_q2.bootstrap import Interval, mean_interval
from parlai_q2.report.comparison.change import BINS
from parlai_q2.report.figures import Mean


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
    bins: list[int] = field(default_factory=lambda: [0] * BINS)

    def add(self, change: Mapping) -> None:
        """
        Add one pair.

        :param change: what
            :func:`parlai_q2.report.comparison.change.change_of` returned.
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
        """
        Number of pairs whose label changed.
        """
        return sum(n for (old, new), n in self.labels.items() if old != new)

    @property
    def higher(self) -> int:
        """
        Number of pairs whose score rose.
        """
        return sum(difference > 0 for difference in self.differences)

    @property
    def lower(self) -> int:
        """
        Number of pairs whose score fell.
        """
        return sum(difference < 0 for difference in self.differences)

    def interval(self) -> Optional[Interval]:
        """
        The mean difference with its 95 % bootstrap interval, which draws whole pairs;
        None without pairs.
        """
        return mean_interval(self.differences) if self.differences else None


def different_settings(before: str, after: str) -> list[tuple[str, str, str]]:
    """
    The settings in which two signatures differ.

    :param before: the first run's signature, as
        :class:`~parlai_q2.signature.Signature` writes it.
    :param after: the second run's.
    :return: each setting with both values; a value is empty if its signature lacks the
        setting.
    """
    old, new = _settings(before), _settings(after)
    names = dict.fromkeys([*old, *new])
    rows = [(name, old.get(name, ''), new.get(name, '')) for name in names]
    return [row for row in rows if row[1] != row[2]]


def _settings(signature: str) -> dict[str, str]:
    scorer, *pairs = signature.split('|')
    found = {'scorer': scorer} if scorer else {}
    for pair in pairs:
        name, _, value = pair.partition(':')
        found[name] = value
    return found


def signatures_of(entries: Iterable[Mapping]) -> list[str]:
    """
    The distinct signatures of a run's entries, in order of appearance.
    """
    return list(dict.fromkeys(e['signature'] for e in entries if e['signature']))
