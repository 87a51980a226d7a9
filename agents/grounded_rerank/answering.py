"""
Puts candidates to the point: among those that the documents bear out, one that answers
the question comes first, and a question that no document answers is declined.

All that is said may be true and no answer: "How much is breakfast?" - "It is served
from 7 to 10." The shipped question-answering model reads each candidate for an answer,
as it read the passages (:mod:`parlai_q2.retrieve.answers`).
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Optional

from parlai_q2.claims import Label
from parlai_q2.io.turn_knowledge import Found
from parlai_q2.rerank import Ranking
from parlai_q2.rerank.choice import Reason
from parlai_q2.retrieve.answers import AnswerReader
from parlai_q2.turns import Passage


def to_the_point(
    rankings: Sequence[Ranking], found: Sequence[Found], reader: Optional[AnswerReader]
) -> list[Ranking]:
    """
    Rankings with those candidates first that answer their turn's question.

    :param rankings: B rankings.
    :param found: what was found for each turn.
    :param reader: reads candidates; None leaves the rankings as they are.
    """
    if reader is None:
        return list(rankings)
    asked = [
        (number, candidate)
        for number, (ranking, known) in enumerate(zip(rankings, found, strict=True))
        if known.question
        for candidate in ranking.candidates
        if candidate.score is not None and candidate.score.label == Label.CONSISTENT
    ]
    answers = reader.answers([(found[n].question, Passage(c.text)) for n, c in asked])
    first: dict[int, int] = {}
    for (number, candidate), answer in zip(asked, answers, strict=True):
        if answer is not None:
            first.setdefault(number, candidate.place)
    return [
        _led(ranking, first.get(number), known.declined)
        for number, (ranking, known) in enumerate(zip(rankings, found, strict=True))
    ]


def _led(ranking: Ranking, place: Optional[int], declined: bool) -> Ranking:
    if declined:
        return replace(ranking, abstain=True, reason=Reason.DECLINED)
    if place is None or place == ranking.chosen.place:
        return ranking
    leader = next(c for c in ranking.candidates if c.place == place)
    others = [c for c in ranking.candidates if c.place != place]
    return replace(ranking, candidates=(leader, *others), reason=Reason.ANSWERS)
