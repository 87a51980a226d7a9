"""The job that scores records in a process."""

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from parlai_q2.claims import Kind, Label
from parlai_q2.intervals import Interval, grouped_share
from parlai_q2.io.files import Location
from parlai_q2.io.parquet import ParquetColumn
from parlai_q2.io.read import Record, read_records
from parlai_q2.json_values import JsonObject
from parlai_q2.output_records import error_line, score_line
from parlai_q2.runs.file_run import FileJob, Loaded, Tally
from parlai_q2.scorers.base import Scorer
from parlai_q2.scorers.shell import LANGUAGE
from parlai_q2.text.normalize import passage_key

# The kinds of columns in Parquet.
COLUMNS = {
    'kind': ParquetColumn.TEXT,
    'score': ParquetColumn.NUMBER,
    'label': ParquetColumn.TEXT,
    'fallback': ParquetColumn.TRUTH,
    **dict.fromkeys(('claims', 'parts'), ParquetColumn.JSON),
    'signature': ParquetColumn.TEXT,
    'line': ParquetColumn.WHOLE,
    'error': ParquetColumn.TEXT,
}
# Makes a scorer for a torch device (None for its default), in the process that uses it.
MakeScorer = Callable[[str | None], Scorer]


class ScoreTally(Tally):
    """Counts records and adds up their scores."""

    def __init__(self) -> None:
        super().__init__()
        self.labels: dict[str, int] = {
            Label.CONSISTENT: 0,
            Label.INCONSISTENT: 0,
            Label.NOT_VERIFIABLE: 0,
            Label.GENERIC: 0,
        }
        self.total = 0.0
        # Of each verifiable record, whether it is consistent, and the hash of its
        # knowledge: nine bytes.
        self._consistent, self._knowledge = array('B'), array('q')
        # The number of unverifiable records in a language that is not read.
        self.foreign = 0

    def count(self, line: JsonObject) -> None:
        label = str(line['label'])
        self.labels[label] = self.labels.get(label, 0) + 1
        self.total += float(line['score'])
        if label in (Label.CONSISTENT, Label.INCONSISTENT):
            self._consistent.append(label == Label.CONSISTENT)
            self._knowledge.append(hash(passage_key(str(line['knowledge']))))
        self.foreign += LANGUAGE in (line.get('parts') or ())

    @property
    def verifiable(self) -> int:
        """The number of records that are consistent or inconsistent."""
        return len(self._consistent)

    @property
    def rate(self) -> Interval | None:
        """
        The share of consistent records among the verifiable ones; None without any. Its
        interval counts records with the same knowledge as correlated.
        """
        if not self.verifiable:
            return None
        return grouped_share(self._consistent, self._knowledge)

    def summary(self) -> JsonObject:
        rare = {LANGUAGE: self.foreign, 'nulled': self.nulled}
        return {
            'records': self.records,
            'bad': self.records - self.good,
            'mean': self.total / self.good if self.good else None,
            'rate': self.rate and self.rate._asdict(),
            'verifiable': self.verifiable,
            **self.labels,
            **{name: value for name, value in rare.items() if value},
        }

    def describe(self) -> str:
        counts = ', '.join(f'{n} {label}' for label, n in self.labels.items())
        text = f'{self.records} records: {counts}.{self._describe_rate()}'
        if self.good:
            text += f' Mean score {self.total / self.good:.3f}.'
        if bad := self.records - self.good:
            text += f' {bad} could not be scored; see their "error".'
        if self.foreign:
            text += f' Read badly, since not in English: {self.foreign}.'
        if self.nulled:
            names = ', '.join(f'{name} ({n})' for name, n in self.nulled.items())
            text += f' Null was written for NaN or Infinity in: {names}.'
        return text

    def _describe_rate(self) -> str:
        if self.rate is None:
            return ''
        text = f' Of {self.verifiable} verifiable, {self.rate.in_percent} consistent'
        left_out = self.good - self.verifiable
        return f'{text}; {left_out} left out.' if left_out else f'{text}.'


@dataclass(frozen=True)
class ScoreJob(FileJob):
    """Scores records. ``make_scorer`` must be picklable for Ray."""

    unit = 'records'
    participle = 'scored'
    signature_field = 'signature'
    kind = Kind.SCORE
    columns = COLUMNS
    tally = ScoreTally

    make_scorer: MakeScorer
    names: Mapping[str, str] = field(default_factory=dict)

    def read(self, path: Location, format: str | None) -> Iterator[Record]:
        names = dict(self.names)
        # The line's own label is the scorer's.
        if (label := names.pop('label', 'label')) != 'label':
            names['given_label'] = label
        return read_records(path, format, names)

    def load(self, device: str | None = None) -> Loaded:
        scorer = self.make_scorer(device)
        process = partial(score_records, scorer)
        return Loaded(str(scorer.signature), process, scorer.is_thread_safe)


def score_records(scorer: Scorer, records: Sequence[Record]) -> list[JsonObject]:
    """Score records in one call, and return the line of each."""
    examples = [record.parsed for record in records if record.error is None]
    scores = iter(scorer.score(examples))
    return [
        score_line(record.fields, next(scores))
        if record.error is None
        else error_line(record.fields, record.line, record.error, Kind.SCORE)
        for record in records
    ]
