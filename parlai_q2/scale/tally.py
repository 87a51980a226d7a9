"""
Counts the records and labels of a run.
"""

from typing import Any, Iterable, Mapping, Optional

from parlai_q2.records import Label

# The label and score of a record, or None for a bad record.
Outcome = Optional[tuple[str, float]]


class Tally:
    """
    Counts records and adds up their scores. Scores are added in the file's order, so
    that the sum is bit for bit the same however the run was interrupted or distributed.
    """

    def __init__(self) -> None:
        self.records = self.bad = 0
        self.labels = {
            Label.CONSISTENT: 0,
            Label.INCONSISTENT: 0,
            Label.NOT_VERIFIABLE: 0,
            Label.GENERIC: 0,
        }
        self.total = 0.0

    def add(self, outcomes: Iterable[Outcome]) -> None:
        """
        Add the outcomes of records.
        """
        for outcome in outcomes:
            self.records += 1
            if outcome is None:
                self.bad += 1
                continue
            label, score = outcome
            self.labels[label] = self.labels.get(label, 0) + 1
            self.total += score

    @property
    def scored(self) -> int:
        """
        The number of records with a score.
        """
        return self.records - self.bad

    def summary(self) -> dict[str, Any]:
        """
        The counts and the mean score; the mean is None if nothing was scored.
        """
        mean = self.total / self.scored if self.scored else None
        return {'records': self.records, 'bad': self.bad, 'mean': mean, **self.labels}

    def sentence(self) -> str:
        """
        The counts and the mean score, as text for people.
        """
        counts = ', '.join(f'{n} {label}' for label, n in self.labels.items())
        mean = f' Mean score {self.total / self.scored:.3f}.' if self.scored else ''
        bad = f' {self.bad} could not be scored; see their "error".' if self.bad else ''
        return f'{self.records} records: {counts}.{mean}{bad}'


def outcome_of(line: Mapping[str, Any]) -> Outcome:
    """
    The outcome of a record, from the line that was written for it.
    """
    if 'label' not in line:
        return None
    return line['label'], line['score']
