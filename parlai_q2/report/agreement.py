"""
The rate of consistent responses, and how far labels agree with those that people gave,
for all responses of a page or for those with one value of a field.

One rule holds throughout: what a person or the scorer calls generic or not verifiable
is neither right nor wrong. It is left out, and counted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from parlai_q2.claims import Label
from parlai_q2.intervals import Interval, intervals, share_interval
from parlai_q2.report.entries import Entry
from parlai_q2.sweep import Sweep
from parlai_q2.text.class_map import Finding, read_finding
from parlai_q2.text.normalize import passage_key

if TYPE_CHECKING:
    import numpy as np

VERDICTS = (Label.CONSISTENT, Label.INCONSISTENT)
# What a response is called that lacks the field of a breakdown.
WITHOUT = '(none)'


@dataclass(frozen=True)
class Agreement:
    """
    How far the scorer agrees with people on N responses.

    :param count: N: responses that both a person and the scorer call consistent or
        inconsistent.
    :param left_out: how many more a person labelled.
    :param accuracy: the share of equal labels. Its interval, as that of ``auc``, comes
        from a bootstrap that draws passages of knowledge.
    :param auc: the area under the ROC curve; None if people gave one class alone.
    """

    count: int
    left_out: int
    accuracy: Interval
    auc: Interval | None


@dataclass(frozen=True)
class Group:
    """
    The figures of some responses.

    :param name: the value of the field that they have in common.
    :param count: how many there are, and ``verifiable`` how many have a verdict.
    :param score: their mean score.
    :param rate: the share of consistent responses among the verifiable ones; None
        without any.
    """

    name: str
    count: int
    verifiable: int
    score: float
    rate: Interval | None
    agreement: Agreement | None


def measure_group(name: str, entries: Sequence[Entry]) -> Group:
    """The figures of at least one entry of a page."""
    labels = [entry['label'] for entry in entries]
    verifiable = sum(label in VERDICTS for label in labels)
    rate = None
    if verifiable:
        rate = share_interval(labels.count(Label.CONSISTENT), verifiable)
    return Group(
        name=name,
        count=len(entries),
        verifiable=verifiable,
        score=fmean(entry['score'] for entry in entries),
        rate=rate,
        agreement=measure_agreement(entries),
    )


def break_down(entries: Sequence[Entry], field: str) -> list[Group]:
    """The figures by the values of a field that entries have in ``fields``, sorted."""
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(entry['fields'][field] or WITHOUT, []).append(entry)
    return [measure_group(name, groups[name]) for name in sorted(groups)]


def measure_agreement(entries: Sequence[Entry]) -> Agreement | None:
    """How far scores and people's labels agree; None if they share no verdict."""
    findings = [read_finding(entry['class']) for entry in entries]
    judged: list[Entry] = []
    consistent = []
    for entry, finding in zip(entries, findings, strict=True):
        if finding not in (None, Finding.GENERIC) and entry['label'] in VERDICTS:
            judged.append(entry)
            consistent.append(finding == Finding.ENTAILMENT)
    if not judged:
        return None
    import numpy as np

    truth = np.array(consistent)
    predicted = np.array([entry['label'] == Label.CONSISTENT for entry in judged])
    sweep = Sweep(np.array([entry['score'] for entry in judged], float), truth)
    is_equal = (truth == predicted).astype(float)

    def statistic(weights: 'np.ndarray') -> 'np.ndarray':
        accuracy = weights @ is_equal / weights.sum(axis=1)
        return np.stack([accuracy, sweep.areas(weights)[0]], axis=1)

    passages = [passage_key(_knowledge(entry)) for entry in judged]
    accuracy, auc = intervals(statistic, len(judged), groups=passages)
    assert accuracy is not None
    left_out = sum(map(bool, findings)) - len(judged)
    return Agreement(len(judged), left_out, accuracy, auc)


def _knowledge(entry: Entry) -> str:
    return ''.join(piece[0] for piece in entry['knowledge'])
