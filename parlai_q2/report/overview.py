"""
Numbers over all responses of a page, or over those with one value of a field: the rate
of consistent responses, how far labels agree with those that people gave, and the
chart, which ``pages/macros.html`` draws.

One rule holds throughout: what a person or the scorer calls generic or not verifiable
is neither right nor wrong. It is left out, and counted.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from parlai_q2.claims import Comparison, Label
from parlai_q2.intervals import Interval, grouped_share, intervals
from parlai_q2.json_values import JsonMapping, is_number
from parlai_q2.report.entries import Entry, first_and_chosen, join_pieces
from parlai_q2.rerank.choice import MIN_RELEVANCE
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
    How far the scorer agrees with people on the responses that both call consistent or
    inconsistent; of those that a person labelled, the others are left out. Intervals
    come from a bootstrap that draws passages of knowledge. AUC is None if people gave
    one class alone.
    """

    count: int
    left_out: int
    accuracy: Interval
    auc: Interval | None


@dataclass(frozen=True)
class Group:
    """
    The figures of some responses with a value of a field in common: how many there are,
    and how many of them have a verdict; their mean score; and the share of consistent
    ones among the verifiable.
    """

    name: str
    count: int
    verifiable: int
    score: float
    rate: Interval | None
    agreement: Agreement | None


def measure_group(name: str, entries: Sequence[Entry]) -> Group:
    judged = [entry for entry in entries if entry['label'] in VERDICTS]
    rate = None
    if judged:
        is_consistent = [entry['label'] == Label.CONSISTENT for entry in judged]
        rate = grouped_share(is_consistent, [*map(hash, _passages(judged))])
    return Group(
        name=name,
        count=len(entries),
        verifiable=len(judged),
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

    accuracy, auc = intervals(statistic, len(judged), groups=_passages(judged))
    assert accuracy is not None
    left_out = sum(map(bool, findings)) - len(judged)
    return Agreement(len(judged), left_out, accuracy, auc)


def _passages(entries: Sequence[Entry]) -> list[str]:
    """A key of each response's knowledge."""
    return [passage_key(join_pieces(entry['knowledge'])) for entry in entries]


BINS = 10
# From bottom to top; labels of other scorers come last, in grey.
_ORDER = (Label.CONSISTENT, Label.GENERIC, Label.NOT_VERIFIABLE, Label.INCONSISTENT)


class Overview:
    """The numbers of a report over all its responses, at least one."""

    def __init__(self, entries: Sequence[Entry]):
        self.count = len(entries)
        self.whole = measure_group('all', entries)
        self.labels = Counter(entry['label'] for entry in entries)
        # The scores by human label.
        self.classes: dict[str, list[float]] = {}
        # The number of responses by label, for each tenth of the score.
        self.bins: list[Counter[str]] = [Counter() for _ in range(BINS)]
        for entry in entries:
            self.bins[score_bin(entry['score'])][entry['label']] += 1
            if entry['class']:
                self.classes.setdefault(entry['class'], []).append(entry['score'])
        self.questions = self.with_questions = self.unanswered = 0
        for entry in entries:
            comparisons = [c['comparison'] for c in entry['claims'] if c['question']]
            self.questions += len(comparisons)
            self.with_questions += bool(comparisons)
            self.unanswered += comparisons.count(Comparison.NO_ANSWER)
        # Responses without a valid question.
        self.fallbacks = sum(entry['fallback'] for entry in entries)
        self.signatures = distinct_signatures(entries)
        turns = [e for e in entries if e['rerank']]
        self.abstained = sum(e['abstained'] for e in turns)
        pairs = [first_and_chosen(e['rerank']) for e in turns if not e['abstained']]
        complete = [(first, chosen) for first, chosen in pairs if first and chosen]
        self.reranked = len(complete)
        self.changed = sum(first is not chosen for first, chosen in complete)
        # How relevant the chosen candidates are that were read for it.
        relevances = [chosen.get('relevance') for _, chosen in complete]
        self.relevances = [value for value in relevances if is_number(value)]
        self.answers = sum(value >= MIN_RELEVANCE for value in self.relevances)
        # The mean scores of first and chosen candidates, over the same turns.
        judged = [pair for pair in complete if all(map(_is_judged, pair))]
        self.judged = len(judged)
        scores = [(first['score'], chosen['score']) for first, chosen in judged]
        self.first_and_chosen = [fmean(side) for side in zip(*scores)]


def _is_judged(candidate: JsonMapping) -> bool:
    unjudged = (Label.GENERIC, Label.NOT_VERIFIABLE)
    return candidate['score'] is not None and candidate['label'] not in unjudged


def distinct_signatures(entries: Iterable[Entry]) -> list[str]:
    """The distinct signatures of a run's entries, in order of appearance."""
    return list(dict.fromkeys(e['signature'] for e in entries if e['signature']))


def score_bin(score: float) -> int:
    """The index of a score in tenths: 0.3 is in [0.3, 0.4), 1 is in the last one."""
    return min(int(score * BINS), BINS - 1)


class Bar(NamedTuple):
    """A part of a bar: its CSS class, and lengths as shares of the plot's height."""

    kind: str
    bottom: float
    height: float


class Chart(NamedTuple):
    """
    A bar chart of scores in tenths: what it shows, in words; the count at its upper
    end; of each tenth the tooltip and the bars; and the colours' CSS class and meaning.
    """

    described: str
    tallest: int
    columns: list[tuple[str, list[Bar]]]
    key: list[tuple[str, str]]


def score_chart(overview: Overview) -> Chart:
    """The scores of at least one response in tenths, each bar divided by label."""
    tallest = max(sum(counts.values()) for counts in overview.bins)
    columns, described = [], []
    for place, counts in enumerate(overview.bins):
        bars, below = [], 0
        labels = sorted(counts, key=_rank)
        for label in labels:
            bars.append(Bar(_kind(label), below / tallest, counts[label] / tallest))
            below += counts[label]
        tenth = f'{place / BINS:.1f} to {(place + 1) / BINS:.1f}'
        described.append(f'{tenth}: {below:,}')
        words = ', '.join(f'{counts[n]:,} {n.replace("_", " ")}' for n in labels)
        title = f'score {tenth}: {below:,}' + (f' ({words})' if words else '')
        columns.append((title, bars))
    key = [(_kind(n), n.replace('_', ' ')) for n in sorted(overview.labels, key=_rank)]
    return Chart(', '.join(described), tallest, columns, key)


def _kind(label: str) -> str:
    return label if label in _ORDER else 'other'


def _rank(label: str) -> int:
    return _ORDER.index(label) if label in _ORDER else len(_ORDER)
