"""
Scorers by name: how far a response stays with its knowledge.
"""

from parlai_q2.scorers.base import Scorer
from parlai_q2.scorers.registry import (
    load_scorer,
    register_scorer,
    release_models,
    scorer_names,
)

__all__ = ['Scorer', 'load_scorer', 'register_scorer', 'release_models', 'scorer_names']
