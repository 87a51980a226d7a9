"""
Scores one chunk: what every engine does, in whichever process.

A scored chunk holds the lines to be written, ready as bytes, so that a process that
only writes does not have to build them.
"""

from typing import Any, Callable, Generator, NamedTuple, Optional

from parlai_q2.errors import ConfigError
from parlai_q2.files.chunks import Chunk
from parlai_q2.files.read import Record
from parlai_q2.files.write import encode_line
from parlai_q2.records import Score
from parlai_q2.scale.work import Work, cut_short
from parlai_q2.scorers.base import Scorer

# What a scored line has, and what a bad one has instead.
SCORE_FIELDS = ('score', 'label', 'fallback', 'verdicts', 'parts', 'signature')
ERROR_FIELDS = ('line', 'error')
OURS = SCORE_FIELDS + ERROR_FIELDS

# Makes a scorer for a torch device, in the process that is to use it; None stands for
# the device of the scorer's own choice. It crosses to other processes by pickle.
MakeScorer = Callable[[Optional[str]], Scorer]
# Scores what is to be done, and gives the chunks back in their order; a generator,
# which stops its workers when it is closed.
Engine = Callable[[Work], Generator['ScoredChunk', None, None]]


class ScoredChunk(NamedTuple):
    """
    What became of a chunk.

    :param number: which chunk it is.
    :param end: bytes of the input that were read by its end.
    :param lines: JSON lines, one a record, none with a signature of ours.
    :param outcomes: label and score of each record; None for a bad one.
    :param problems: what is wrong with the bad ones.
    :param cut_short: whether the last one says that the rest of the file was not read.
    """

    number: int
    end: int
    lines: bytes
    outcomes: list[Optional[tuple[str, float]]]
    problems: list[str]
    cut_short: bool = False


def score_chunk(chunk: Chunk, scorer: Scorer) -> ScoredChunk:
    """
    Score a chunk's records in one call.

    :param chunk: the records.
    :param scorer: what scores.
    """
    scores = iter(
        scorer.score([r.example for r in chunk.records if r.example is not None])
    )
    lines, outcomes, problems = [], [], []
    for record in chunk.records:
        score = next(scores) if record.example is not None else None
        lines.append(encode_line(line_of(record, score)))
        outcomes.append((score.label, score.value) if score else None)
        if record.error is not None:
            problems.append(str(record.error))
    written = b''.join(lines)
    return ScoredChunk(
        chunk.number, chunk.end, written, outcomes, problems, cut_short(chunk)
    )


def line_of(record: Record, score: Optional[Score]) -> dict[str, Any]:
    """
    What is written for a record; the signature is written once, by who writes.
    """
    if score is None:
        kept = passed_through(record.fields)
        return {**kept, 'line': record.line, 'error': str(record.error)}
    fields = score.to_dict()
    del fields['signature']
    return {**passed_through(record.fields), **fields}


def passed_through(fields: dict[str, Any]) -> dict[str, Any]:
    """
    A record's own fields, as they stand beside a score or an error.

    What an earlier run wrote is left out. Somebody else's field of a name of ours, such
    as an annotator's ``label``, is kept as ``given_label``.

    :param fields: the record's.
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
    """
    Names of the fields that an earlier run wrote.
    """
    written: set[str] = set()
    if fields.keys() >= set(SCORE_FIELDS) - {'signature'}:
        written.update(SCORE_FIELDS)
    # As RecordError says it. A person who mended the record may have left it there.
    place = f', line {fields.get("line")}: '
    if 'line' in fields and place in str(fields.get('error')):
        written.update(ERROR_FIELDS)
    return written


def in_process(scorer: Scorer) -> Engine:
    """
    The engine that scores here, one chunk after the other.
    """

    def engine(work: Work) -> Generator[ScoredChunk, None, None]:
        for chunk in work.chunks:
            yield score_chunk(chunk, scorer)

    return engine


def checked(make: MakeScorer, device: Optional[str], signature: str) -> Scorer:
    """
    A worker's scorer.

    :param make: makes it.
    :param device: where it computes.
    :param signature: what the file says of its scores.
    :raises ConfigError: when this scorer's numbers would be other ones.
    """
    scorer = make(device)
    if str(scorer.signature) != signature:
        raise ConfigError(
            f"A worker's scorer differs from the run's: {scorer.signature}, not "
            f'{signature}. All machines need the same versions and presets, and '
            'all devices must be of one kind.'
        )
    return scorer
