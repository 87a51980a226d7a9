"""Numbers over all responses of a page; ``pages/macros.html`` draws the chart."""

from collections import Counter
from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

from parlai_q2.claims import Comparison, Label
from parlai_q2.intervals import mean_interval
from parlai_q2.report.agreement import measure_group
from parlai_q2.report.changes import distinct_signatures
from parlai_q2.report.entries import Entry, first_and_chosen

BINS = 10
# From bottom to top; labels of other scorers come last, in grey.
_ORDER = (Label.CONSISTENT, Label.GENERIC, Label.NOT_VERIFIABLE, Label.INCONSISTENT)


class Overview:
    """
    The numbers of a report over all its responses.

    :param entries: from :func:`parlai_q2.report.entries.read_entry`, at least one.
    """

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
        turns = [first_and_chosen(e['rerank']) for e in entries if e['rerank']]
        complete = [(first, chosen) for first, chosen in turns if first and chosen]
        self.reranked = len(complete)
        self.changed = sum(first is not chosen for first, chosen in complete)
        # The mean scores of first and chosen candidates, over the same turns.
        scores = [(first['score'], chosen['score']) for first, chosen in complete]
        scores = [pair for pair in scores if None not in pair]
        self.first_and_chosen = [fmean(side) for side in zip(*scores)]


class TwoRunOverview:
    """
    The numbers of two runs over all pairs.

    :param changes: of :func:`parlai_q2.report.changes.compare_entries`, at least one.
    """

    def __init__(self, changes: Sequence[Entry]):
        pairs = [(change['before'], change['after']) for change in changes]
        differences = [change['difference'] for change in changes]
        self.count = len(pairs)
        self.before, self.after = means(pairs)
        self.higher = sum(difference > 0 for difference in differences)
        self.lower = sum(difference < 0 for difference in differences)
        # The number of pairs by label before and after.
        self.labels = Counter((old['label'], new['label']) for old, new in pairs)
        self.flips = sum(n for (old, new), n in self.labels.items() if old != new)
        # By human label: the number of pairs, and the mean scores before and after.
        self.classes = {}
        for name in sorted({c['class'] for c in changes if c['class']}):
            class_pairs = [
                p for p, c in zip(pairs, changes, strict=True) if c['class'] == name
            ]
            self.classes[name] = (len(class_pairs), *means(class_pairs))
        # The mean difference; the bootstrap draws whole pairs.
        self.interval = mean_interval(differences)


def means(pairs: Sequence[tuple[Entry, Entry]]) -> tuple[float, float]:
    """The mean scores before and after."""
    before, after = zip(*pairs, strict=True)
    return fmean(e['score'] for e in before), fmean(e['score'] for e in after)


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
