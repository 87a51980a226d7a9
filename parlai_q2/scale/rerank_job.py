"""Reranks pools: what a process does with the pools that it is sent."""

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Optional

from parlai_q2.claims import Kind, Label
from parlai_q2.enums import Word
from parlai_q2.intervals import Interval, mean_interval
from parlai_q2.io.parquet import Column
from parlai_q2.io.write import encode_line
from parlai_q2.lines import error_line, kind_of, ranking_line
from parlai_q2.rerank import PoolRecord, Ranking, Reranker
from parlai_q2.scale.outcomes import Made
from parlai_q2.scale.score_job import lost_record

# The kinds of columns in Parquet.
COLUMNS = {
    **dict.fromkeys(('knowledge', 'history', 'candidates'), Column.JSON),
    **dict.fromkeys(
        ('kind', 'text', 'reason', 'rerank_signature', 'error'), Column.TEXT
    ),
    **dict.fromkeys(('order', 'rerank', 'rerank_knowledge'), Column.JSON),
    **dict.fromkeys(('abstained', 'grounded'), Column.TRUTH),
    'line': Column.WHOLE,
}


class Choosing(Word):
    """Ways of choosing, whose wrong choices are counted."""

    CHOSEN = 'chosen'  # the reranker's, which says nothing where it abstains
    FIRST = 'first'
    RANDOM = 'random'  # in expectation
    ORACLE = 'oracle'  # the best possible


# Makes a reranker for a torch device (None for its default).
MakeReranker = Callable[[Optional[str]], Reranker]


@dataclass(frozen=True)
class RerankJob:
    """
    Reranks pools; see :class:`~parlai_q2.scale.job.Job`.

    :param make: makes the reranker; must be picklable for Ray.
    :param abstain_text: what is said instead of a reply that is not grounded.
    """

    make: MakeReranker
    abstain_text: str

    def load(self, device: Optional[str] = None) -> 'Reranking':
        """Make the reranker."""
        return Reranking(self.make(device), self.abstain_text)

    def lost(self, item: PoolRecord, problem: str) -> Made:
        """The line of a pool that no process survives."""
        return bad_line(item._replace(pool=None, error=lost_record(item, problem)))


@dataclass(frozen=True)
class Reranking:
    """A loaded reranker, which makes lines; see :class:`~parlai_q2.scale.job.Work`."""

    reranker: Reranker
    abstain_text: str

    @property
    def signature(self) -> str:
        """That of the scorer that chooses."""
        return str(self.reranker.chooser.signature)

    def __call__(self, items: Sequence[PoolRecord]) -> list[Made]:
        """The line of each pool, all ranked together."""
        pools = [item.pool for item in items if item.pool is not None]
        found = iter(self.reranker.explained(self.reranker.rank_batch(pools)))
        return [
            bad_line(item) if item.pool is None else self._line(item, next(found))
            for item in items
        ]

    def _line(self, item: PoolRecord, ranking: Ranking) -> Made:
        said = self.abstain_text if ranking.abstain else ranking.chosen.text
        line = ranking_line(item.fields, ranking, said, self.signature)
        return Made(encode_line(line), choice_of(line), None)


def bad_line(item: PoolRecord) -> Made:
    """The line of a pool with an error."""
    assert item.error is not None
    line = error_line(item.fields, item.line, item.error, Kind.RANKING)
    return Made(encode_line(line), None, str(item.error))


def choice_of(line: Mapping[str, Any]) -> Optional['Choice']:
    """
    What is counted of a pool, from its line; None of a bad pool.
    """
    if kind_of(line) == Kind.ERROR:
        return None
    # As for the reranker, the generator's order is that of the file.
    order = line['order']
    labels = [
        one.get('label') if isinstance(one, dict) else None
        for one in line['candidates']
    ]
    chosen = next(n for n, row in zip(order, line['rerank']) if row['chosen'])
    first = next(n for n, row in zip(order, line['rerank']) if row['first'])
    nothing_grounded = bool(line['rerank_knowledge']) and not line['grounded']
    if not all(labels):
        return Choice(chosen != first, nothing_grounded)
    wrong = [float(label == Label.INCONSISTENT) for label in labels]
    of_choice = 0.0 if line['abstained'] else wrong[chosen]
    rates = (of_choice, wrong[0], sum(wrong) / len(wrong), min(wrong))
    return Choice(chosen != first, nothing_grounded, rates)


class Choice(NamedTuple):
    """
    What is counted of a pool.

    :param changed: whether the choice is another than the generator's first.
    :param nothing_grounded: whether there is knowledge, and no candidate is consistent
        with it.
    :param wrong: where every candidate has a label, how often each of :class:`Choosing`
        gives an inconsistent response, in [0, 1]; else empty.
    """

    changed: bool
    nothing_grounded: bool
    wrong: tuple[float, ...] = ()


class RerankCounts:
    """Counts pools, and where people labelled their candidates, wrong choices."""

    def __init__(self) -> None:
        self.records = self.good = self.changed = self.nothing_grounded = 0
        self.nulled: Counter[str] = Counter()
        # Eight bytes for each labelled pool.
        self._wrong = {way: array('d') for way in Choosing}

    def add(self, outcomes: Iterable[Any], nulled: Iterable[str] = ()) -> None:
        """Add what :func:`choice_of` gives of pools."""
        self.nulled.update(nulled)
        for outcome in outcomes:
            self.records += 1
            if outcome is None:
                continue
            self.good += 1
            self.changed += outcome.changed
            self.nothing_grounded += outcome.nothing_grounded
            for way, value in zip(Choosing, outcome.wrong):
                self._wrong[way].append(value)

    def rates(self) -> dict[str, Interval]:
        """
        How often each way of choosing gives an inconsistent response, by the labels of
        pools: the rate of each policy, with its 95 % interval over pools; empty where
        none is labelled. The policies are the reranker's choice (which says nothing
        where it abstains), the first candidate, a random choice (in expectation), and
        the best possible choice.
        """
        return {
            str(w): mean_interval(found) for w, found in self._wrong.items() if found
        }

    def summary(self) -> dict[str, Any]:
        """The counts and rates."""
        found: dict[str, Any] = {
            'pools': self.records,
            'bad': self.records - self.good,
            'changed': self.changed,
            'nothing_grounded': self.nothing_grounded,
        }
        if self.nulled:
            found['nulled'] = dict(self.nulled)
        if rates := self.rates():
            found['labelled'] = len(self._wrong[Choosing.CHOSEN])
            found['hallucination_rate'] = {k: v._asdict() for k, v in rates.items()}
        return found

    def sentence(self) -> str:
        """The counts, as text for people."""
        told = (
            f'{self.good} reranked, {self.changed} of them with a different first '
            f'choice; {self.records - self.good} not reranked.'
        )
        if self.nothing_grounded:
            told += (
                f' Nothing grounded in {self.nothing_grounded} of them: no candidate '
                'is consistent with its knowledge ("grounded": false).'
            )
        if self.nulled:
            told += (
                f' Null was written for NaN or Infinity in: {", ".join(self.nulled)}.'
            )
        return told
