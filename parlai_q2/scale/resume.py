"""
Finds what an earlier run left to do.
"""

import json
from itertools import chain, islice
from typing import Optional

from parlai_q2.files.write import ResumableWriter
from parlai_q2.scale.tally import Outcome, Tally, outcome_of
from parlai_q2.scale.work import Source, Work, cut_short


def go_on(source: Source, writer: ResumableWriter, tally: Tally) -> Work:
    """
    Pass over the chunks that an earlier run has written, and count them.

    A chunk of which not all lines are there is scored again as a whole, so that a
    scorer sees the same records together as in a run that was never stopped.

    :param source: the file.
    :param writer: holds the lines; those of a chunk that is to be scored are dropped.
    :param tally: counts.
    :return: what is to be done; the whole file where nothing was written.
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
        # A machine that lost power can leave a file with a hole.
        return None
