"""
Keeps the scores of a run in a file beside its output, in order, one line each: a run
that was stopped takes them from there, and so does one that only decides otherwise.
"""

import json
import logging
import os
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from itertools import chain, islice
from pathlib import Path
from typing import Any, Optional

from parlai_q2.claims import Score
from parlai_q2.io.files import beside
from parlai_q2.io.write import ANOTHER, CLAIM, PART, ResumableWriter, meta_of, writing
from parlai_q2.scale.job import Engine
from parlai_q2.scale.judge_job import Item, read_line

logger = logging.getLogger(__name__)

Scored = tuple[Any, list[Optional[Score]]]


class KeptScores:
    """
    Scores chunks by an engine, but for those whose scores are in the file. A context
    manager: what was scored before an error is kept.

    :param path: the file.
    :param engine: runs a :class:`~parlai_q2.scale.judge_job.JudgeJob`.
    :param stay: whether the file stays when all is done.
    :param problem: is told of each example that could not be scored.
    :raises InputError: if the file cannot be written, or another run is writing it.
    """

    def __init__(
        self,
        path: Path,
        engine: Engine,
        stay: bool,
        problem: Callable[[str], None] = lambda problem: None,
    ):
        self._engine, self._stay, self._problem = engine, stay, problem
        self._path, self._run = path, {'signature': engine.signature}
        # How many scores were taken from the file, and how many were made.
        self.found = self.made = 0
        with writing(path, ANOTHER):
            _open_again(path, self._run)
        self._writer = ResumableWriter(path, self._run)

    def __enter__(self) -> 'KeptScores':
        return self

    def __exit__(self, kind: Optional[type[BaseException]], *error: Any) -> None:
        if kind is None and self._stay:
            self._writer.finish({**self._run, 'scores': self.found + self.made})
        elif kind is None or not self.found + self.made + self._writer.done:
            self._writer.abandon()
        else:
            self._writer.close()

    def scores(self, chunks: Iterator[Any]) -> Generator[Scored, None, None]:
        """
        Each chunk and the scores of its items, in order; None for an item that no
        process survives.
        """
        kept, missing = 0, None
        with closing(self._writer.raw_lines()) as lines:
            for chunk in chunks:
                held = list(islice(lines, len(chunk.items)))
                found = self._read(held, chunk.items)
                if found is None:
                    missing = chunk
                    break
                kept += sum(map(len, held))
                self.found += len(held)
                yield chunk, found
        self._writer.keep(kept)
        if missing is None:
            return
        if self.found:
            logger.info('Continuing after the %d labels already scored.', self.found)
        with closing(self._engine.run(chain([missing], chunks))) as results:
            for chunk, made in results:
                self._writer.write_lines(b''.join(made))
                self.made += len(made)
                found = self._read(made, chunk.items)
                assert found is not None, 'lines that were just written'
                yield chunk, found

    def _read(
        self, lines: Sequence[bytes], items: Sequence[Item]
    ) -> Optional[list[Optional[Score]]]:
        """The scores that lines have; None if these are not the lines of the items."""
        if len(lines) < len(items):
            return None
        signature = self._run['signature']
        try:
            read = [read_line(*pair, signature) for pair in zip(lines, items)]
        except (ValueError, TypeError, KeyError, AttributeError):
            # Another example, or after a power cut a hole.
            return None
        for (_, problem), item in zip(read, items):
            if problem is not None:
                self._problem(f'{item.place} {problem}')
        return [score for score, _ in read]


def _open_again(path: Path, run: dict[str, Any]) -> None:
    """Make a complete file of the same scorer one that a run goes on with."""
    place = Path(os.path.realpath(path))
    part, claim, meta = beside(place, PART), beside(place, CLAIM), meta_of(path)
    try:
        was = json.loads(meta.read_text(encoding='utf-8'))
        same = was.get('signature') == run['signature']
    except (OSError, ValueError, AttributeError):
        return
    if same and place.is_file() and not part.exists():
        # The claim comes first: a part without one would be thrown away.
        claim.write_text(json.dumps(run, indent=1), encoding='utf-8')
        os.replace(place, part)
