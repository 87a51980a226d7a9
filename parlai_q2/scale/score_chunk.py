"""
Scores one chunk, in whichever process. A scored chunk has its output lines as bytes, so
that the process that writes them does not have to encode them.
"""

from typing import Any, Callable, Generator, Iterator, NamedTuple, Optional, Sequence

from parlai_q2.claims import Score
from parlai_q2.io.chunks import Chunk
from parlai_q2.io.read import Record
from parlai_q2.io.write import encode_line
from parlai_q2.scorers.base import Scorer
from parlai_q2.scorers.shell import LANGUAGE

# The fields of a line with a score, and those of a line for a bad record.
SCORE_FIELDS = ('score', 'label', 'fallback', 'verdicts', 'parts')
# Lines from before 0.5 have no statements, and most lines no signature.
NOT_ALWAYS = ('statements', 'signature')
ERROR_FIELDS = ('line', 'error')
OURS = SCORE_FIELDS + NOT_ALWAYS + ERROR_FIELDS

# Creates a scorer for a torch device (None for the scorer's default), in the process
# that will use it. It is sent to other processes by pickle.
MakeScorer = Callable[[Optional[str]], Scorer]
# Scores chunks and yields the results in order. A generator: closing it stops its
# workers.
Engine = Callable[[Iterator[Chunk]], Generator['ScoredChunk', None, None]]


class ScoredChunk(NamedTuple):
    """
    The result of scoring a chunk.

    :param number: the index of the chunk.
    :param end: how many bytes of the input had been read by its end.
    :param lines: one JSON line per record, without signatures.
    :param outcomes: label and score of each record, and whether it is in another
        language than the model's; None for a bad one.
    :param problems: the error messages of the bad records.
    :param cut_short: as in :class:`~parlai_q2.io.chunks.Chunk`, like ``nulled``.
    """

    number: int
    end: int
    lines: bytes
    outcomes: list[Optional[tuple[str, float, bool]]]
    problems: list[str]
    cut_short: bool = False
    nulled: Sequence[str] = ()


def outcome_of(score: Score) -> tuple[str, float, bool]:
    """What is counted of a score."""
    return score.label, score.value, LANGUAGE in score.parts


def score_chunk(chunk: Chunk, scorer: Scorer) -> ScoredChunk:
    """Score a chunk's records in one call of the scorer."""
    scores = iter(
        scorer.score([r.example for r in chunk.records if r.example is not None])
    )
    lines, outcomes, problems = [], [], []
    for record in chunk.records:
        score = next(scores) if record.example is not None else None
        lines.append(encode_line(line_of(record, score)))
        outcomes.append(outcome_of(score) if score else None)
        if record.error is not None:
            problems.append(str(record.error))
    return ScoredChunk(
        chunk.number,
        chunk.end,
        b''.join(lines),
        outcomes,
        problems,
        chunk.cut_short,
        chunk.nulled,
    )


def line_of(record: Record, score: Optional[Score]) -> dict[str, Any]:
    """
    The output line of a record, without the signature; the writing process adds it.
    """
    if score is None:
        kept = passed_through(record.fields)
        return {**kept, 'line': record.line, 'error': str(record.error)}
    fields = score.to_dict()
    del fields['signature']
    return {**passed_through(record.fields), **fields}


def passed_through(fields: dict[str, Any]) -> dict[str, Any]:
    """
    A record's own fields, as they are written next to its score or error.

    Fields that an earlier run wrote are left out. Any other field with one of our
    names, such as an annotator's ``label``, is kept as ``given_label``.
    """
    passed = {k: v for k, v in fields.items() if k not in OURS}
    written = _written_before(fields)
    for name in (n for n in fields if n in OURS and n not in written):
        given = f'given_{name}'
        while given in passed:
            given = f'given_{given}'
        passed[given] = fields[name]
    return passed


def _written_before(fields: dict[str, Any]) -> set[str]:
    """The names of the fields that an earlier run wrote."""
    written: set[str] = set()
    if fields.keys() >= set(SCORE_FIELDS):
        written.update(SCORE_FIELDS + NOT_ALWAYS)
    # A message of RecordError, left in a record that somebody has since corrected.
    place = f', line {fields.get("line")}: '
    if 'line' in fields and place in str(fields.get('error')):
        written.update(ERROR_FIELDS)
    return written


def in_process(scorer: Scorer) -> Engine:
    """The engine that scores in this process, one chunk after the other."""

    def engine(chunks: Iterator[Chunk]) -> Generator[ScoredChunk, None, None]:
        for chunk in chunks:
            yield score_chunk(chunk, scorer)

    return engine
