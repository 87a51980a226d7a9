"""
Filters a dialogue dataset: keeps the turns that are grounded in their knowledge. An
episode is a list of messages, as ParlAI's teachers send them.
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
