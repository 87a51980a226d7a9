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
from parlai_q2.rerank.candidate import distinct_candidates
from parlai_q2.rerank.choice import Reason
from parlai_q2.retrieve.answers import AnswerReader
from parlai_q2.retrieve.words import words_of
from parlai_q2.text.questions import is_yes_no_question
from parlai_q2.turns import Passage

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


def add_document_replies(
    pools: Sequence[Sequence[Candidate]],
    found: Sequence[TurnKnowledge],
    empty: Candidate,
) -> list[list[Candidate]]:
    """
    Pools with what a document says where it answers their turn's question, as a
    candidate like others, which is scored and shown with its evidence; or with the
    reply to small talk.

    :param pools: B pools, each of at least one candidate.
    :param found: what was found for each turn.
    :param empty: the generator's candidate without a text.
    """
    return [
        distinct_candidates([*pool, *_document_replies(knowledge, empty)]) or [*pool]
        for pool, knowledge in zip(pools, found, strict=True)
    ]


def _document_replies(knowledge: TurnKnowledge, empty: Candidate) -> list[Candidate]:
    text, strategy = knowledge.quote, DOCUMENT
    if not text:
        text, strategy = knowledge.courtesy, COURTESY
    return [replace(empty, text=text, strategies=(strategy,))] if text else []


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
        if known.question and not is_yes_no_question(known.question)
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
