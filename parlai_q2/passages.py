"""
Places evidence in the passages of the knowledge: scorers read them as one text, and a
:class:`~parlai_q2.claims.Score` has offsets in the passages of its example.
"""

from bisect import bisect_right
from dataclasses import replace
from itertools import accumulate
from typing import Sequence

from parlai_q2.claims import Evidence, Score
from parlai_q2.turns import PASSAGE_END, Passage, Span


def passage_starts(passages: Sequence[Passage]) -> list[int]:
    """
    Where each passage starts in the joined knowledge.

    >>> passage_starts([Passage('Bees.'), Passage('Ants.')])
    [0, 6]
    """
    lengths = (len(p.text) + len(PASSAGE_END) for p in passages[:-1])
    return list(accumulate(lengths, initial=0))


def in_passages(score: Score, passages: Sequence[Passage]) -> Score:
    """
    A score whose evidence has offsets in the joined knowledge, with offsets in the
    passages instead. What goes beyond the end of its passage is cut there.
    """
    if len(passages) < 2:
        return score
    starts = passage_starts(passages)

    def place(span: Span) -> Evidence:
        index = bisect_right(starts, span.start) - 1
        start = span.start - starts[index]
        end = min(span.end - starts[index], len(passages[index].text))
        return Evidence(index, Span(passages[index].text[start:end], start, end))

    verdicts = []
    for verdict in score.verdicts:
        if verdict.knowledge_answer is not None:
            found = place(verdict.knowledge_answer)
            verdict = replace(
                verdict, knowledge_answer=found.sentence, passage=found.passage
            )
        verdicts.append(verdict)
    statements = tuple(
        replace(s, evidence=tuple(place(e.sentence) for e in s.evidence))
        for s in score.statements
    )
    return replace(score, verdicts=tuple(verdicts), statements=statements)
