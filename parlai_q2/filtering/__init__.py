"""
Filters a dialogue dataset: keeps the turns that are grounded in their knowledge.

It works on episodes, the lists of messages that ParlAI's teachers send, and does not
import ParlAI.
"""

from parlai_q2.filtering.judge import (
    JudgedEpisode,
    JudgedLabel,
    JudgedTurn,
    judge_episodes,
)
from parlai_q2.filtering.policy import Decision, Policy, Reason

__all__ = [
    'Decision',
    'JudgedEpisode',
    'JudgedLabel',
    'JudgedTurn',
    'Policy',
    'Reason',
    'judge_episodes',
]
