"""
Puts the candidate that answers the turn first, if the documents answer the question.

If no candidate answers it, or if it is a yes-no question, the reply quotes the
document. The agent declines a question that no document answers.

A reply may be true and still answer nothing: "How much is breakfast?" - "It is served
from 7 to 10." The shipped question-answering model finds the answers in the passages
(:mod:`parlai_q2.retrieve.answers`). A candidate must contain most words of one of these
answers and of its sentence, because small generators omit the subject. The model must
also find an answer in the candidate.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from parlai_q2.claims import Label
from parlai_q2.io.turn_knowledge import TurnKnowledge
from parlai_q2.rerank import Candidate, Ranking
from parlai_q2.rerank.candidate import distinct_candidates
from parlai_q2.rerank.choice import Reason
from parlai_q2.retrieve.answers import AnswerReader
from parlai_q2.retrieve.words import words_of
from parlai_q2.text.questions import is_yes_no_question
from parlai_q2.turns import Passage

# The strategies of candidates that no generator found, and the reasons to choose them.
DOCUMENT, COURTESY = 'document', 'courtesy'
_REASONS: dict[tuple[str, ...], Reason] = {
    (DOCUMENT,): Reason.DOCUMENT,
    (COURTESY,): Reason.COURTESY,
}
# The shares of the words of an answer, and of its sentence, that a candidate must
# contain.
ANSWER_SHARE, SENTENCE_SHARE = 0.8, 0.6
# "I'm not sure about that. It's two years." Generators put spaces into words, too.
_HEDGES = re.compile(
    r"\b(not (really )?sure|do ?n ?['’]? ?t know|no idea|i (think|guess|believe))\b",
    re.I,
)
_STOP_WORDS = frozenset('a an the of in to is are it at on for'.split())


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
    rankings: Sequence[Ranking],
    turn_knowledge: Sequence[TurnKnowledge],
    reader: AnswerReader | None,
) -> list[Ranking]:
    """
    Move the candidate that answers the turn's question to the top of each ranking.

    :param rankings: B rankings.
    :param turn_knowledge: the knowledge of each turn.
    :param reader: finds the answers in candidates; None leaves the rankings as they
        are.
    :return: B rankings. Those of turns that the documents do not answer abstain.
    """
    if reader is None:
        return list(rankings)
    # Pairs of a turn's index and a candidate that may answer it.
    candidates = []
    for index, (ranking, knowledge) in enumerate(
        zip(rankings, turn_knowledge, strict=True)
    ):
        for candidate in _possible_answers(ranking, knowledge):
            candidates.append((index, candidate))
    answers = reader.answers(
        [
            (turn_knowledge[index].question, Passage(candidate.text))
            for index, candidate in candidates
        ]
    )
    best_places: dict[int, int] = {}
    for (index, candidate), answer in zip(candidates, answers, strict=True):
        if answer is not None:
            best_places.setdefault(index, candidate.place)
    return [
        _put_answer_first(ranking, best_places.get(index), knowledge)
        for index, (ranking, knowledge) in enumerate(
            zip(rankings, turn_knowledge, strict=True)
        )
    ]


def _possible_answers(
    ranking: Ranking, knowledge: TurnKnowledge
) -> Iterator[Candidate]:
    # An extracted answer cannot distinguish yes from no.
    if knowledge.question and not is_yes_no_question(knowledge.question):
        for candidate in ranking.candidates:
            if _may_answer(candidate, knowledge):
                yield candidate


def _may_answer(candidate: Candidate, knowledge: TurnKnowledge) -> bool:
    score, text = candidate.score, candidate.text
    if score is None or score.label != Label.CONSISTENT or _HEDGES.search(text):
        return False
    return any(has_answer(text, answer) for answer in knowledge.answers) and any(
        has_answer(text, sentence, SENTENCE_SHARE) for sentence in knowledge.sentences
    )


def has_answer(text: str, answer: str, share: float = ANSWER_SHARE) -> bool:
    """
    Whether a text contains most words of an answer, in any inflection.

    :param share: the share of the answer's words that it must contain, in [0, 1].

    >>> has_answer("It's a two-year warranty.", 'two years')
    True
    >>> has_answer('They are.', 'not covered')
    False
    """
    words = {*words_of(answer)}
    words = words - _STOP_WORDS or words
    return len(words & {*words_of(text)}) >= share * len(words)


def _put_answer_first(
    ranking: Ranking, place: int | None, knowledge: TurnKnowledge
) -> Ranking:
    """
    :param place: the place of the candidate that answers; None if none does.
    """
    if knowledge.declined:
        return replace(ranking, abstain=True, reason=Reason.DECLINED)
    candidates = ranking.candidates
    document_reply = next((c for c in candidates if c.strategies in _REASONS), None)
    leader = next((c for c in candidates if c.place == place), document_reply)
    if leader is None:
        return ranking
    reason = _REASONS.get(leader.strategies, Reason.ANSWERS)
    rest = [candidate for candidate in candidates if candidate is not leader]
    return replace(ranking, candidates=(leader, *rest), reason=reason)
