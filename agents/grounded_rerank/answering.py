"""
Adds a ready reply to the candidates of a turn, if there is one (the document's own
words, or a courtesy), and returns it if no candidate surely answers.

A reply may be true and still answer nothing: "How much is breakfast?" - "It is served
from 7 to 10." The choice reads whether candidates answer
(:mod:`parlai_q2.rerank.relevance`). If the best one is not grounded, does not answer,
adds chat or is badly written, or if it is an answer to a yes-no question, the reply
quotes the document.
The agent declines a question that no document answers. A turn that asks nothing gets a
courtesy unless the best reply fits it, and is grounded or claims nothing.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from parlai_q2.claims import Label
from parlai_q2.io.knowledge import TurnKnowledge
from parlai_q2.rerank import Candidate, Ranking
from parlai_q2.rerank.candidate import distinct_candidates
from parlai_q2.rerank.choice import MIN_RELEVANCE, SURE_RELEVANCE, Reason, Rule, choose
from parlai_q2.rerank.guards.words import MisspellingGuard
from parlai_q2.rerank.relevance import strip_chat
from parlai_q2.text.questions import is_yes_no_question, only_greets

# The strategies of ready replies, and the reasons to choose them.
DOCUMENT, COURTESY = 'document', 'courtesy'
_REASONS = {DOCUMENT: Reason.DOCUMENT, COURTESY: Reason.COURTESY}
# "I'm not sure about that. It's two years." Generators put spaces into words, too.
_HEDGES = re.compile(
    r"\b((not|pretty) (really )?sure|do ?n ?['’]? ?t know|no idea"
    r'|i (think|guess|believe))\b',
    re.I,
)
# "It reads HTML HTML and PDF."
_DOUBLED_WORD = re.compile(r'\b(\w{3,}) \1\b', re.I)


def add_ready_reply(
    pool: Sequence[Candidate], knowledge: TurnKnowledge, empty_candidate: Candidate
) -> list[Candidate]:
    """
    Add the document's answer, or a courtesy, to a pool: a candidate like any other,
    scored and shown with its evidence.

    :param pool: at least one candidate.
    :param empty_candidate: the generator's candidate without a text.
    """
    text = knowledge.quote or knowledge.courtesy
    if not text:
        return [*pool]
    strategies = (DOCUMENT if knowledge.quote else COURTESY,)
    ready = replace(empty_candidate, text=text, strategies=strategies)
    return distinct_candidates([*pool, ready])


def prefer_answer(ranking: Ranking, knowledge: TurnKnowledge, rule: Rule) -> Ranking:
    """
    Move the ready reply to the top of a ranking whose chosen candidate does not surely
    answer, or is to be withheld. The ranking of a turn that the documents do not answer
    abstains.

    :param rule: how it was chosen.
    """
    if knowledge.declined:
        return replace(ranking, abstain=True, reason=Reason.DECLINED)
    # The generator may have returned the same words.
    name = DOCUMENT if knowledge.quote else COURTESY
    ready = next((c for c in ranking if name in c.strategies), None)
    if ready is None:
        return ranking
    if ready is not ranking.chosen and not ranking.abstain:
        if not knowledge.question and _fits(ranking.chosen, ranking.turn):
            return ranking
        if knowledge.question and _answers(ranking.chosen, knowledge):
            return replace(ranking, reason=Reason.ANSWERS)
    rest = [candidate for candidate in ranking if candidate is not ready]
    ranking = replace(
        ranking, candidates=(ready, *rest), reason=_REASONS[name], abstain=False
    )
    if name == DOCUMENT:
        # The search has already read whether it answers.
        as_found = replace(ready, relevance=None)
        alone = choose([as_found], rule, ranking.passages, ranking.turn)
        if alone.abstain:
            return replace(ranking, abstain=True, reason=alone.reason)
    return ranking


def is_good_enough(ranking: Ranking, threshold: float) -> bool:
    """Whether the chosen candidate makes further searches unnecessary."""
    chosen = ranking.chosen
    return (
        chosen.score is not None
        and chosen.score.label == Label.CONSISTENT
        and chosen.guarded_score is not None
        and chosen.guarded_score >= threshold
    )


def _fits(candidate: Candidate, turn_text: str) -> bool:
    """Whether a reply to a turn that asks nothing is better than a courtesy."""
    score, relevance = candidate.score, candidate.relevance
    if score is None or score.label == Label.INCONSISTENT or _hedges(candidate):
        return False
    is_relevant = relevance is not None and relevance >= MIN_RELEVANCE
    # A person who only greets wants no facts.
    return score.label == Label.GENERIC or (is_relevant and not only_greets(turn_text))


def _answers(candidate: Candidate, knowledge: TurnKnowledge) -> bool:
    """
    Whether a candidate is grounded, well written and surely answers the turn's
    question, without chat that nobody asked for.
    """
    score, relevance = candidate.score, candidate.relevance
    return (
        score is not None
        and score.label == Label.CONSISTENT
        and relevance is not None
        and relevance >= SURE_RELEVANCE
        # It is harder to tell whether a yes or a no is right.
        and not is_yes_no_question(knowledge.question)
        and not _hedges(candidate)
        # "I agree. It costs 14 euros."
        and strip_chat(candidate.text, knowledge.question) == candidate.text
        and MisspellingGuard.name not in candidate.guards
        and not _doubles_a_word(candidate.text, knowledge)
    )


def _doubles_a_word(reply: str, knowledge: TurnKnowledge) -> bool:
    """Whether a reply has a word twice in a row that the knowledge does not have so."""
    known = knowledge.text.lower()
    doubled = (match[0].lower() for match in _DOUBLED_WORD.finditer(reply))
    return any(words not in known for words in doubled)


def _hedges(candidate: Candidate) -> bool:
    return _HEDGES.search(candidate.text) is not None
