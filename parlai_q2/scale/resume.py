"""
Finds out what an earlier run has left to do.
"""

import json
from itertools import chain, islice
from typing import Optional

from parlai_q2.io.write import ResumableWriter
from parlai_q2.scale.tally import Outcome, Tally, outcome_of
from parlai_q2.scale.work import Source, Work, cut_short


def go_on(source: Source, writer: ResumableWriter, tally: Tally) -> Work:
    """
    Skip the chunks that an earlier run has written, and count their records.

    If some lines of a chunk are missing, the whole chunk is scored again, so that the
    scorer sees the same records together as in a run that was never stopped.

    :param source: the file to score.
    :param writer: has the lines of the earlier run. Those from the first chunk that has
        to be scored on are dropped.
    :param tally: the records that are skipped are added to it.
    :return: the remaining work; the whole file if nothing was written.
    """
    chunks, lines = source.chunks(), writer.raw_lines()
    kept = read = first = 0
    ended = False
    for chunk in chunks:
        held = list(islice(lines, len(chunk.records)))
        outcomes = _outcomes(held, len(chunk.records))
        if outcomes is None:
            chunks = chain([chunk], chunks)
            break
        tally.add(outcomes)
        kept += sum(map(len, held))
        read, first = chunk.end, chunk.number + 1
        ended = cut_short(chunk)
    writer.keep(kept)
    return Work(source, first, chunks, tally.records, read, ended)


def _outcomes(lines: list[bytes], records: int) -> Optional[list[Outcome]]:
    if len(lines) < records:
        return None
    try:
        return [outcome_of(json.loads(line)) for line in lines]
    except (ValueError, TypeError, KeyError):
        # After a power cut, a file can have a hole.
        return None
