"""
The score cache: keeps scores on disk, so that no response is scored twice with the same
signature.
"""

from parlai_q2.cache.score_cache import (
    DEFAULT_MAX_BYTES,
    ScoreCache,
    default_cache_path,
)

__all__ = ['DEFAULT_MAX_BYTES', 'ScoreCache', 'default_cache_path']
