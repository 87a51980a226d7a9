"""
The default location of the score cache.
"""

import os
from pathlib import Path

from parlai_q2.io.files import cache_folder

# An environment variable with the path of the cache, to keep it elsewhere.
VARIABLE = 'PARLAI_Q2_CACHE'


def default_store_path() -> Path:
    """
    ``$PARLAI_Q2_CACHE``, else ``scores.sqlite`` in
    :func:`~parlai_q2.io.files.cache_folder`.
    """
    given = os.environ.get(VARIABLE)
    if given:
        return Path(given).expanduser()
    return cache_folder() / 'scores.sqlite'
