"""Scorers, loaded by name, that measure how well knowledge supports a response."""

from parlai_q2.scorers.base import Scorer
from parlai_q2.scorers.registry import load_scorer, release_models, scorer_names

__all__ = ['Scorer', 'load_scorer', 'release_models', 'scorer_names']
