"""The job that reranks pools in a process."""

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial

from parlai_q2.claims import Kind, Label
from parlai_q2.intervals import Interval, mean_interval
from parlai_q2.io.files import Location
from parlai_q2.io.parquet import ParquetColumn
from parlai_q2.io.read import Record
from parlai_q2.json_values import JsonObject
from parlai_q2.options import Word
from parlai_q2.output_records import error_line, ranking_line
from parlai_q2.rerank import RerankBy, Reranker
from parlai_q2.runs.file_run import FileJob, Loaded, Tally
from parlai_q2.runs.pool_records import read_pools
from parlai_q2.signature import Signature
from parlai_q2.text.normalize import passage_key

# The kinds of columns in Parquet.
COLUMNS = {
    **dict.fromkeys(('knowledge', 'history', 'candidates'), ParquetColumn.JSON),
    **dict.fromkeys(
        ('kind', 'text', 'reason', 'rerank_turn', 'rerank_signature', 'error'),
        ParquetColumn.TEXT,
    ),
    **dict.fromkeys(('order', 'rerank', 'rerank_knowledge'), ParquetColumn.JSON),
    **dict.fromkeys(('abstained', 'grounded'), ParquetColumn.TRUTH),
    'line': ParquetColumn.WHOLE,
}


class ChoicePolicy(Word):
    """The ways of choosing whose wrong choices are counted."""

    CHOSEN = 'chosen'  # the reranker's choice; no response if it abstains
    FIRST = 'first'
    RANDOM = 'random'  # in expectation
    ORACLE = 'oracle'  # the best possible


class RerankTally(Tally):
    """
    Counts pools and, if annotators labelled their candidates, wrong choices.

    :ivar changed: the pools whose choice is another than the generator's first.
    :ivar nothing_grounded: those with knowledge, and no candidate consistent with it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.changed = self.nothing_grounded = 0
        # How often each policy gives an inconsistent response, in [0, 1]: eight bytes
        # for each pool whose candidates all have labels.
        self._wrong = {policy: array('d') for policy in ChoicePolicy}
        # The hash of each such pool's knowledge: the bootstrap draws passages.
        self._knowledge = array('q')

    def count(self, line: JsonObject) -> None:
        # As in the reranker, the file's order is the generator's.
        order, rows = line['order'], line['rerank']
        labels = [
            candidate.get('label') if isinstance(candidate, dict) else None
            for candidate in line['candidates']
        ]
        chosen = order[0]
        first = next(n for n, row in zip(order, rows) if row['first'])
        self.changed += chosen != first and not line['abstained']
        self.nothing_grounded += bool(line['rerank_knowledge']) and not line['grounded']
        if not all(labels):
            return
        wrong = [float(label == Label.INCONSISTENT) for label in labels]
        wrong_choice = 0.0 if line['abstained'] else wrong[chosen]
        rates = (wrong_choice, wrong[0], sum(wrong) / len(wrong), min(wrong))
        self._knowledge.append(hash(passage_key(str(line['knowledge']))))
        for policy, rate in zip(ChoicePolicy, rates):
            self._wrong[policy].append(rate)

    def rates(self) -> dict[str, Interval]:
        """The rate of inconsistent responses of each policy, if pools are labelled."""
        return {
            str(policy): mean_interval(values, groups=self._knowledge)
            for policy, values in self._wrong.items()
            if values
        }

    def summary(self) -> JsonObject:
        counts: JsonObject = {
            'pools': self.records,
            'bad': self.records - self.good,
            'changed': self.changed,
            'nothing_grounded': self.nothing_grounded,
        }
        if self.nulled:
            counts['nulled'] = dict(self.nulled)
        if rates := self.rates():
            counts['labelled'] = len(self._wrong[ChoicePolicy.CHOSEN])
            counts['hallucination_rate'] = {
                policy: rate._asdict() for policy, rate in rates.items()
            }
        return counts

    def describe(self) -> str:
        text = (
            f'{self.good} reranked, {self.changed} of them with a different first '
            f'choice; {self.records - self.good} not reranked.'
        )
        if self.nothing_grounded:
            text += (
                f' Nothing grounded in {self.nothing_grounded} of them: no candidate '
                'is consistent with its knowledge ("grounded": false).'
            )
        if self.nulled:
            text += (
                f' Null was written for NaN or Infinity in: {", ".join(self.nulled)}.'
            )
        return text


# Makes a reranker for a torch device (None for its default).
MakeReranker = Callable[[str | None], Reranker]


@dataclass(frozen=True)
class RerankJob(FileJob):
    """Reranks pools. ``make_reranker`` must be picklable for Ray."""

    unit = 'pools'
    participle = 'reranked'
    kind = Kind.RANKING
    columns = COLUMNS
    tally = RerankTally

    make_reranker: MakeReranker
    abstain_text: str
    names: Mapping[str, str] = field(default_factory=dict)

    def read(self, path: Location, format: str | None) -> Iterator[Record]:
        return read_pools(path, self.names)

    def load(self, device: str | None = None) -> Loaded:
        reranker = self.make_reranker(device)
        signature = sign_choice(reranker, self.abstain_text)
        process = partial(rerank_pools, reranker, self.abstain_text)
        return Loaded(str(signature), process, reranker.is_thread_safe)


def sign_choice(reranker: Reranker, abstain_text: str) -> Signature:
    """The signature of the scorer that chooses, with all other settings of lines."""
    scores = reranker.chooser.signature
    explainer, reader = reranker.explainer, None
    if reranker.rule.by == RerankBy.COMBINED:
        reader = reranker.relevance_reader
    penalties = {g.name: reranker.penalties[g.name] for g in reranker.guards}
    settings = {
        **scores.settings,
        **{f'rule_{name}': value for name, value in asdict(reranker.rule).items()},
        'guards': penalties,
        'explain': explainer and explainer.signature,
        'relevance': reader and reader.settings,
        'abstain_text': abstain_text,
    }
    return Signature(scores.scorer, settings, scores.version)


def rerank_pools(
    reranker: Reranker, abstain_text: str, records: Sequence[Record]
) -> list[JsonObject]:
    """Rank pools together, and return the line of each."""
    signature = str(reranker.chooser.signature)
    pools = [record.parsed for record in records if record.error is None]
    rankings = iter(reranker.explained(reranker.rank_batch(pools)))
    lines = []
    for record in records:
        if record.error is not None:
            line = error_line(record.fields, record.line, record.error, Kind.RANKING)
        else:
            ranking = next(rankings)
            text = abstain_text if ranking.abstain else ranking.chosen.text
            line = ranking_line(record.fields, ranking, text, signature)
        lines.append(line)
    return lines
