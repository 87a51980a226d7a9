"""What becomes of records: the line of each, and counts over all of them."""

from collections.abc import Iterable
from typing import Any, NamedTuple, Optional, Protocol

from parlai_q2.claims import Label
from parlai_q2.intervals import Interval, share_interval
from parlai_q2.scorers.shell import LANGUAGE


class Made(NamedTuple):
    """
    What was made of a record.

    :param line: the line to write.
    :param outcome: what is counted of it, as it can be read back from the line; None
        for a record with an error.
    :param problem: the error's message.
    """

    line: bytes
    outcome: Any
    problem: Optional[str]


class Counts(Protocol):
    """Counts outcomes, in the order of the file."""

    # How many records were added, and how many of them without an error.
    records: int

    @property
    def good(self) -> int: ...

    def add(self, outcomes: Iterable[Any], nulled: Iterable[str] = ()) -> None: ...

    def summary(self) -> dict[str, Any]: ...

    def sentence(self) -> str: ...


# The label and score of a record, and whether it is in another language than the
# model's; or None for a bad record.
Outcome = Optional[tuple[str, float, bool]]


class Tally:
    """
    Counts records and adds up their scores. Scores are added in the file's order, so
    that the sum is bit for bit the same however the run was interrupted or distributed.
    """

    def __init__(self) -> None:
        self.records = self.bad = 0
        # How many records had NaN or Infinity in a field, where null was written.
        self.nulled: dict[str, int] = {}
        self.labels: dict[str, int] = {
            Label.CONSISTENT: 0,
            Label.INCONSISTENT: 0,
            Label.NOT_VERIFIABLE: 0,
            Label.GENERIC: 0,
        }
        self.total = 0.0
        # Of those that are not verifiable, how many for their language.
        self.foreign = 0

    def add(self, outcomes: Iterable[Outcome], nulled: Iterable[str] = ()) -> None:
        """Add the outcomes of records, and the fields of theirs with NaN."""
        for name in nulled:
            self.nulled[name] = self.nulled.get(name, 0) + 1
        for outcome in outcomes:
            self.records += 1
            if outcome is None:
                self.bad += 1
                continue
            label, score, foreign = outcome
            self.foreign += foreign
            self.labels[label] = self.labels.get(label, 0) + 1
            self.total += score

    @property
    def verifiable(self) -> int:
        """How many records are consistent or inconsistent."""
        return self.labels[Label.CONSISTENT] + self.labels[Label.INCONSISTENT]

    @property
    def rate(self) -> Optional[Interval]:
        """
        The share of consistent records among the verifiable ones with its 95 %
        interval; None without any.
        """
        if not self.verifiable:
            return None
        return share_interval(self.labels[Label.CONSISTENT], self.verifiable)

    @property
    def good(self) -> int:
        """The number of records with a score."""
        return self.records - self.bad

    def summary(self) -> dict[str, Any]:
        """
        The counts, the mean score (None if nothing was scored) and the rate of
        consistent records among the verifiable ones.
        """
        mean = self.total / self.good if self.good else None
        found: dict[str, Any] = {'records': self.records, 'bad': self.bad, 'mean': mean}
        found['rate'] = self.rate and self.rate._asdict()
        found |= {'verifiable': self.verifiable, **self.labels}
        more = {LANGUAGE: self.foreign, 'nulled': self.nulled}
        return {**found, **{name: value for name, value in more.items() if value}}

    def _rate_sentence(self) -> str:
        if self.rate is None:
            return ''
        mean, low, high = (f'{100 * value:.1f}' for value in self.rate)
        text = f' Of {self.verifiable} verifiable, {mean} % [{low}, {high}] consistent'
        left_out = self.good - self.verifiable
        return f'{text}; {left_out} left out.' if left_out else f'{text}.'

    def sentence(self) -> str:
        """The counts and the mean score, as text for people."""
        counts = ', '.join(f'{n} {label}' for label, n in self.labels.items())
        mean = f' Mean score {self.total / self.good:.3f}.' if self.good else ''
        bad = f' {self.bad} could not be scored; see their "error".' if self.bad else ''
        told = f'{self.records} records: {counts}.{self._rate_sentence()}{mean}{bad}'
        if self.foreign:
            told += f' {self.foreign} are not in English, which the models read.'
        if self.nulled:
            names = ', '.join(f'{name} ({n})' for name, n in self.nulled.items())
            told += f' Null was written for NaN or Infinity in: {names}.'
        return told
