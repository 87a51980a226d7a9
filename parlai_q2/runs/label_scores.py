"""
Scores examples that are in no file of records, such as the labels of a task, and keeps
their scores in a file beside the run's output, in order, one line each. A run that was
stopped takes them from there, and so does one that only has another threshold.
"""

import json
import logging
import os
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Protocol

from parlai_q2.cache.score_cache import pair_key
from parlai_q2.claims import Score
from parlai_q2.io.files import beside
from parlai_q2.io.write import (
    ANOTHER,
    CLAIM,
    PART,
    ResumableWriter,
    encode_line,
    locate_summary,
    writing,
)
from parlai_q2.json_values import JsonMapping, JsonObject
from parlai_q2.runs.file_run import ChunkT, JobEngine, Loaded
from parlai_q2.runs.score_job import MakeScorer
from parlai_q2.scorers.base import Scorer
from parlai_q2.scorers.shell import make_pair
from parlai_q2.turns import Example

# Hexadecimal digits of the hash by which a line knows its example.
DIGITS = 16

logger = logging.getLogger(__name__)


class Item(Protocol):
    """An example, and where it is, for messages."""

    @property
    def example(self) -> Example: ...

    @property
    def place(self) -> str: ...


@dataclass(frozen=True)
class LabelJob:
    """Scores examples; see :class:`~parlai_q2.runs.file_run.Job`."""

    make_scorer: MakeScorer

    def load(self, device: str | None = None) -> Loaded:
        """Make the scorer."""
        scorer = self.make_scorer(device)
        return Loaded(str(scorer.signature), partial(score_items, scorer))

    def report_lost(self, item: Item, problem: str) -> JsonObject:
        """The line of an example that no process survives."""
        return {'of': hash_item(item), 'error': f'could not be scored: {problem}'}


def score_items(scorer: Scorer, items: Sequence[Item]) -> list[JsonObject]:
    """The line of each example, all scored in one call."""
    scores = scorer.score([item.example for item in items])
    lines = []
    for item, score in zip(items, scores, strict=True):
        fields = score.to_dict()
        # The same for all of them.
        del fields['signature']
        lines.append({'of': hash_item(item), **fields})
    return lines


def hash_item(item: Item) -> str:
    """A hash of an example's texts, which are all that its score depends on."""
    return pair_key(make_pair(item.example)).hex()[:DIGITS]


class KeptScores:
    """
    Scores chunks by an engine, but for those whose scores are in the file. A context
    manager: what was scored before an error is kept.

    :param path: the file.
    :param engine: runs a :class:`LabelJob`.
    :param stay: whether the file stays when all is done.
    :param report_problem: called for each example that could not be scored.
    :ivar reused: how many scores were taken from the file.
    :ivar added: how many were made.
    :raises InputError: if the file cannot be written, or another run is writing it.
    """

    def __init__(
        self,
        path: Path,
        engine: JobEngine,
        stay: bool,
        report_problem: Callable[[str], None] = lambda problem: None,
    ):
        self._engine, self._stay, self._report = engine, stay, report_problem
        self._run = {'signature': engine.signature}
        self.reused = self.added = 0
        with writing(path, ANOTHER):
            _reopen(path, self._run)
        self._writer = ResumableWriter(path, self._run)

    def __enter__(self) -> 'KeptScores':
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        count = self.reused + self.added
        if kind is None and self._stay:
            self._writer.finish({**self._run, 'scores': count})
        elif kind is None or not count + self._writer.done:
            self._writer.abandon()
        else:
            self._writer.close()

    def scores(
        self, chunks: Iterator[ChunkT]
    ) -> Generator[tuple[ChunkT, list[Score | None]], None, None]:
        """
        Yield each chunk and the scores of its items, in order; None for an item that no
        process survives.
        """
        size = 0
        missing: list[ChunkT] = []
        with closing(self._writer.raw_lines()) as written:
            for chunk in chunks:
                raw = list(islice(written, len(chunk.items)))
                scores = self._read_written(raw, chunk.items)
                if scores is None:
                    missing.append(chunk)
                    break
                size += sum(map(len, raw))
                self.reused += len(raw)
                yield chunk, scores
        self._writer.keep(size)
        if not missing:
            return
        if self.reused:
            logger.info('Continuing after the %d labels already scored.', self.reused)
        with closing(self._engine.run(chain(missing, chunks))) as results:
            for chunk, lines in results:
                self._writer.write_lines(b''.join(map(encode_line, lines)))
                self.added += len(lines)
                yield chunk, self._read(lines, chunk.items)

    def _read_written(
        self, raw: Sequence[bytes], items: Sequence[Item]
    ) -> list[Score | None] | None:
        """The scores that lines have; None if these are not the lines of the items."""
        if len(raw) < len(items):
            return None
        try:
            lines = [json.loads(line) for line in raw]
            if any(
                line['of'] != hash_item(item)
                for line, item in zip(lines, items, strict=True)
            ):
                return None
            return self._read(lines, items)
        except (ValueError, TypeError, KeyError, AttributeError):
            # After a power cut, a file can have a hole.
            return None

    def _read(
        self, lines: Sequence[JsonMapping], items: Sequence[Item]
    ) -> list[Score | None]:
        scores: list[Score | None] = []
        for line, item in zip(lines, items, strict=True):
            if 'error' in line:
                self._report(f'{item.place} {line["error"]}')
                scores.append(None)
            else:
                scores.append(Score.from_dict({**line, **self._run}))
        return scores


def _reopen(path: Path, run: JsonMapping) -> None:
    """Let a run resume a complete file of the same scorer."""
    place = Path(os.path.realpath(path))
    part, claim, meta = beside(place, PART), beside(place, CLAIM), locate_summary(path)
    try:
        summary = json.loads(meta.read_text(encoding='utf-8'))
        is_same = summary.get('signature') == run['signature']
    except (OSError, ValueError, AttributeError):
        return
    if is_same and place.is_file() and not part.exists():
        # The claim comes first: a part without one would be thrown away.
        claim.write_text(json.dumps(run, indent=1), encoding='utf-8')
        os.replace(place, part)
