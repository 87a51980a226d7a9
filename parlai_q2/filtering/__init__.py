"""
Filters a dialogue dataset: keeps the turns that are grounded in their knowledge. An
episode is a list of messages, as ParlAI's teachers send them.
"""

from parlai_q2.filtering.judge import (
    Decision,
    FilterReason,
    JudgedEpisode,
    JudgedLabel,
    JudgedTurn,
    Policy,
    judge_episodes,
)

__all__ = [
    'Decision',
    'FilterReason',
    'JudgedEpisode',
    'JudgedLabel',
    'JudgedTurn',
    'Policy',
    'judge_episodes',
]
