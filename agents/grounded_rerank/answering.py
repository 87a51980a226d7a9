"""
Puts candidates to the point: of a question that documents answer, a candidate that says
the answer comes first or, where none does, and where yes or no is asked for, what the
document itself says. A question that no document answers is declined.

All that is said may be true and no answer: "How much is breakfast?" - "It is served
from 7 to 10." The shipped question-answering model read the passages for answers
(:mod:`parlai_q2.retrieve.answers`); a candidate has to have most words of one of them
and of its sentence, as small generators leave out what an answer is about, and the
model has to find an answer in the candidate, too.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Optional

from parlai_q2.claims import Label
from parlai_q2.io.turn_knowledge import TurnKnowledge
from parlai_q2.rerank import Candidate, Ranking
from parlai_q2.rerank.candidate import spoken
from parlai_q2.rerank.choice import Reason
from parlai_q2.retrieve.answers import AnswerReader, wants_yes_or_no
from parlai_q2.retrieve.words import words_of
from parlai_q2.turns import Passage, Turn

# Where a candidate comes from that no generator found, and why it is said.
DOCUMENT, COURTESY = 'document', 'courtesy'
_OWN: dict[tuple[str, ...], Reason] = {
    (DOCUMENT,): Reason.DOCUMENT,
    (COURTESY,): Reason.COURTESY,
}
# The share of an answer's words that a candidate needs to say it, and of those of its
# sentence.
SAID, OF_SENTENCE = 0.8, 0.6
# "I'm not sure about that. It's two years." Generators put spaces into words, too.
_HEDGES = re.compile(
    r"\b(not (really )?sure|do ?n ?['’]? ?t know|no idea|i (think|guess|believe))\b",
    re.I,
)
_LITTLE = frozenset('a an the of in to is are it at on for'.split())


def with_documents(
    pools: Sequence[Sequence[Candidate]], found: Sequence[TurnKnowledge]
) -> list[list[Candidate]]:
    """
    Pools with what a document says where it answers their turn's question, as a
    candidate like others, which is scored and shown with its evidence; or with the
    reply to small talk.

    :param pools: B pools, each of at least one candidate.
    :param found: what was found for each turn.
    """
    more = [
        _own(known.quote, DOCUMENT, pool)
        if known.quote
        else _own(known.courtesy, COURTESY, pool)
        for pool, known in zip(pools, found, strict=True)
    ]
    return [
        spoken([*pool, one]) if one.text else list(pool)
        for pool, one in zip(pools, more, strict=True)
    ]


def _own(text: str, strategy: str, pool: Sequence[Candidate]) -> Candidate:
    # The generator has no record of it; its reply's text is set by said_by.
    least = min(pool, key=lambda one: one.mean_logprob)
    return replace(least, text=text, strategies=(strategy,), source=pool[0].source)


def said_by(ranking: Ranking, texts: Sequence[str]) -> list[str]:
    """
    What the candidates of a ranking say.

    :param texts: what the generator's records say, in the ranking's order.
    """
    return [
        one.text if one.strategies in _OWN else text
        for one, text in zip(ranking.candidates, texts)
    ]


def answered_by(found: TurnKnowledge, turn: Turn) -> Optional[bool]:
    """
    Whether what was found for a turn answers it; None if it was not read for that, or
    if yes or no is asked for, which a span does not tell.
    """
    if found.question:
        return True
    return False if found.declined and not wants_yes_or_no(turn.text) else None


def to_the_point(
    rankings: Sequence[Ranking],
    found: Sequence[TurnKnowledge],
    reader: Optional[AnswerReader],
) -> list[Ranking]:
    """
    Rankings with that candidate first that answers its turn's question.

    :param rankings: B rankings.
    :param found: what was found for each turn.
    :param reader: reads candidates; None leaves the rankings as they are.
    """
    if reader is None:
        return list(rankings)
    asked = [
        (number, candidate)
        for number, (ranking, known) in enumerate(zip(rankings, found, strict=True))
        # A span that answers does not tell yes from no.
        if known.question and not wants_yes_or_no(known.question)
        for candidate in ranking.candidates
        if _may_answer(candidate, known)
    ]
    answers = reader.answers([(found[n].question, Passage(c.text)) for n, c in asked])
    first: dict[int, int] = {}
    for (number, candidate), answer in zip(asked, answers, strict=True):
        if answer is not None:
            first.setdefault(number, candidate.place)
    return [
        _led(ranking, first.get(number), known)
        for number, (ranking, known) in enumerate(zip(rankings, found, strict=True))
    ]


def _may_answer(candidate: Candidate, known: TurnKnowledge) -> bool:
    consistent = (
        candidate.score is not None and candidate.score.label == Label.CONSISTENT
    )
    surely = consistent and not _HEDGES.search(candidate.text)
    return (
        surely
        and any(says(candidate.text, one) for one in known.answers)
        and any(says(candidate.text, one, OF_SENTENCE) for one in known.sentences)
    )


def says(text: str, answer: str, share: float = SAID) -> bool:
    """
    Whether a text has most words of an answer, whatever their form.

    >>> says("It's a two-year warranty.", 'two years'), says('They are.', 'not covered')
    (True, False)
    """
    words = {*words_of(answer)}
    words = words - _LITTLE or words
    return len(words & {*words_of(text)}) >= share * len(words)


def _led(ranking: Ranking, place: Optional[int], known: TurnKnowledge) -> Ranking:
    if known.declined:
        return replace(ranking, abstain=True, reason=Reason.DECLINED)
    own = next((c for c in ranking.candidates if c.strategies in _OWN), None)
    leader = next((c for c in ranking.candidates if c.place == place), own)
    if leader is None:
        return ranking
    reason = _OWN.get(leader.strategies, Reason.ANSWERS)
    others = [c for c in ranking.candidates if c is not leader]
    return replace(ranking, candidates=(leader, *others), reason=reason)
