"""
Adds the document's own words to the candidates of turns with document search, and
returns them if no candidate surely answers.

A reply may be true and still answer nothing: "How much is breakfast?" - "It is served
from 7 to 10." The choice reads whether candidates answer
(:mod:`parlai_q2.rerank.relevance`). If the best one is not grounded or does not answer,
or if it is an answer to a yes-no question, the reply quotes the document. The agent
declines a question that no document answers.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from parlai_q2.claims import Label
from parlai_q2.io.knowledge import TurnKnowledge
from parlai_q2.rerank import Candidate, Ranking
from parlai_q2.rerank.candidate import distinct_candidates
from parlai_q2.rerank.choice import MIN_RELEVANCE, Reason
from parlai_q2.text.questions import is_yes_no_question

# The strategies of candidates that no generator found, and the reasons to choose them.
DOCUMENT, COURTESY = 'document', 'courtesy'
_REASONS: dict[tuple[str, ...], Reason] = {
    (DOCUMENT,): Reason.DOCUMENT,
    (COURTESY,): Reason.COURTESY,
}
# "I'm not sure about that. It's two years." Generators put spaces into words, too.
_HEDGES = re.compile(
    r"\b(not (really )?sure|do ?n ?['’]? ?t know|no idea|i (think|guess|believe))\b",
    re.I,
)


def add_document_replies(
    pools: Sequence[Sequence[Candidate]],
    turn_knowledge: Sequence[TurnKnowledge],
    empty_candidate: Candidate,
) -> list[list[Candidate]]:
    """
    Add the document's answer, or the reply to small talk, to each pool.

    It is a candidate like any other, scored and shown with its evidence.

    :param pools: B pools, each of at least one candidate.
    :param turn_knowledge: the knowledge of each turn.
    :param empty_candidate: the generator's candidate without a text.
    :return: B pools. A pool stays as it is if there is nothing to add to it.
    """
    return [
        distinct_candidates([*pool, *_document_replies(knowledge, empty_candidate)])
        or [*pool]
        for pool, knowledge in zip(pools, turn_knowledge, strict=True)
    ]


def _document_replies(
    knowledge: TurnKnowledge, empty_candidate: Candidate
) -> list[Candidate]:
    text, strategy = knowledge.quote, DOCUMENT
    if not text:
        text, strategy = knowledge.courtesy, COURTESY
    return [replace(empty_candidate, text=text, strategies=(strategy,))] if text else []


def prefer_answers(
    rankings: Sequence[Ranking], turn_knowledge: Sequence[TurnKnowledge]
) -> list[Ranking]:
    """
    Move the document's own words to the top of each ranking whose chosen candidate does
    not surely answer.

    :param rankings: B rankings.
    :param turn_knowledge: the knowledge of each turn.
    :return: B rankings. Those of turns that the documents do not answer abstain.
    """
    return [
        _prefer_answer(ranking, knowledge)
        for ranking, knowledge in zip(rankings, turn_knowledge, strict=True)
    ]


def _prefer_answer(ranking: Ranking, knowledge: TurnKnowledge) -> Ranking:
    if knowledge.declined:
        return replace(ranking, abstain=True, reason=Reason.DECLINED)
    candidates = ranking.candidates
    own_words = next((c for c in candidates if c.strategies in _REASONS), None)
    if own_words is None:
        return ranking
    if own_words is not ranking.chosen and _answers(ranking.chosen, knowledge):
        return replace(ranking, reason=Reason.ANSWERS)
    rest = [candidate for candidate in candidates if candidate is not own_words]
    reason = _REASONS[own_words.strategies]
    return replace(ranking, candidates=(own_words, *rest), reason=reason)


def _answers(candidate: Candidate, knowledge: TurnKnowledge) -> bool:
    """Whether a candidate is grounded and surely answers the turn's question."""
    score, relevance = candidate.score, candidate.relevance
    return (
        score is not None
        and score.label == Label.CONSISTENT
        and relevance is not None
        and relevance >= MIN_RELEVANCE
        # Whether yes or no is right is harder to tell.
        and not is_yes_no_question(knowledge.question)
        and not _HEDGES.search(candidate.text)
    )
