"""
The score cache: keeps scores on disk, so that no response is scored twice with the same
signature.
"""

from parlai_q2.cache.cached_scorer import CachedScorer
from parlai_q2.cache.location import default_store_path
from parlai_q2.cache.score_store import DEFAULT_MAX_BYTES, ScoreStore

__all__ = ['DEFAULT_MAX_BYTES', 'CachedScorer', 'ScoreStore', 'default_store_path']
