"""
The worth of a candidate: the probability that a person would send it, by its score
after the guards, its relevance, how surely it is the right answer, and its agreement
with the other candidates. The rule ``combined`` chooses by it.
"""

import re
from math import log

from parlai_q2.log_odds import logit, sigmoid
from parlai_q2.rerank.candidate import Candidate
from parlai_q2.rerank.guards.words import states_nothing
from parlai_q2.text.questions import (
    is_small_talk,
    is_yes_no_question,
    only_declines,
    only_greets,
    wants_answer,
)

# Fitted by benchmarks/fit_choice.py. Added to the log odds that a reply is the right
# answer: the weights of the logarithm of its score after the guards, and of how far
# its agreement differs from what is typical.
GROUNDEDNESS_WEIGHT, AGREEMENT_WEIGHT, TYPICAL_AGREEMENT = 0.87, 10.19, 0.07
# The lower bound of scores. The scorer does not read the turn, and so rejects many
# short answers.
LEAST_SCORE = 0.1
# After a question or small talk: the weight of the log odds of the relevance, and the
# typical relevance, at which nothing is added.
RELEVANCE_WEIGHT, TYPICAL_RELEVANCE = 0.19, 0.88
# The log odds of a reply that declines, and the weight of its relevance's log odds.
DECLINE, DECLINE_RELEVANCE = 1.12, 0.34
# The same for a reply that greets or chats, and the addition if the turn asks
# something. Set by hand, since few pools have such replies.
CHAT, CHAT_RELEVANCE, CHAT_IF_ASKED = 1.8, 0.53, -3.4
_SAYS_YES_OR_NO = re.compile(r'\W*(yes|no|yeah|yep|nope)\b', re.I)


def worth_of(candidate: Candidate, turn_text: str = '') -> float:
    """
    The worth of a candidate, in [0, 1]: the probability that a person would send it;
    its score after the guards if relevance was not read.

    :param turn_text: the last turn.

    >>> fields = {'guarded_score': 0.9, 'relevance': 0.5}
    >>> right = Candidate('Five.', right_answer=0.9, **fields)
    >>> wrong = Candidate('Six.', right_answer=0.1, **fields)
    >>> worth_of(right, 'How many?') > worth_of(wrong, 'How many?')
    True
    """
    if candidate.relevance is None:
        return guarded_score_of(candidate)
    return sigmoid(sum(worth_terms(candidate, turn_text).values()))


def worth_terms(candidate: Candidate, turn_text: str = '') -> dict[str, float]:
    """
    The terms, in log odds, whose sum is the worth of a candidate: to see what decided.

    :param candidate: a candidate whose relevance was read.
    :param turn_text: the last turn.
    :return: by name: of a reply that claims something ``right_answer``,
        ``groundedness``, ``agreement`` and ``relevance``; of another one ``decline`` or
        ``chat``, and ``relevance``.

    >>> reply = Candidate('Five.', guarded_score=0.9, relevance=0.88, right_answer=0.5)
    >>> terms = worth_terms(reply, 'How many?')
    >>> {name: round(term, 2) for name, term in terms.items()}
    {'right_answer': 0.0, 'groundedness': -0.09, 'agreement': 0.0, 'relevance': 0.0}
    """
    relevance, right = logit(candidate.relevance or 0.0), candidate.right_answer
    if only_declines(candidate.text):
        return {'decline': DECLINE, 'relevance': DECLINE_RELEVANCE * relevance}
    if claims_nothing(candidate.text, turn_text):
        chat = CHAT + wants_answer(turn_text) * CHAT_IF_ASKED
        return {'chat': chat, 'relevance': CHAT_RELEVANCE * relevance}
    agreement = candidate.agreement
    if agreement is None:
        agreement = TYPICAL_AGREEMENT
    return {
        'right_answer': 0.0 if right is None else logit(right),
        'groundedness': GROUNDEDNESS_WEIGHT
        * log(max(guarded_score_of(candidate), LEAST_SCORE)),
        'agreement': AGREEMENT_WEIGHT * (agreement - TYPICAL_AGREEMENT),
        'relevance': RELEVANCE_WEIGHT * rate_relevance(candidate, turn_text),
    }


def rate_relevance(candidate: Candidate, turn_text: str) -> float:
    """
    How far the log odds of a candidate's relevance are above the typical ones; 0 after
    a statement, which many replies fit.
    """
    if candidate.relevance is None or not wants_reply(turn_text):
        return 0.0
    return logit(candidate.relevance) - logit(TYPICAL_RELEVANCE)


def wants_reply(turn_text: str) -> bool:
    """Whether a turn expects a certain reply: it asks something, or is small talk."""
    return wants_answer(turn_text) or is_small_talk(turn_text)


def claims_nothing(text: str, turn_text: str = '') -> bool:
    """
    Whether a reply declines, greets or chats, and claims nothing about the world. "No."
    claims something after a question that it answers.

    >>> claims_nothing('Hello! How can I help you?'), claims_nothing('It is far.')
    (True, False)
    >>> claims_nothing('No.', 'Is it far?')
    False
    """
    if only_declines(text):
        return True
    if _SAYS_YES_OR_NO.match(text) and is_yes_no_question(turn_text):
        return False
    return bool(text.strip()) and (only_greets(text) or states_nothing(text))


def guarded_score_of(candidate: Candidate) -> float:
    """A candidate's score after the guards; 0 if it was not scored."""
    return 0.0 if candidate.guarded_score is None else candidate.guarded_score
