"""
Where scores are kept when nobody says where.
"""

import os
from pathlib import Path

from parlai_q2.files.cache_folder import cache_folder

# A path, to keep them elsewhere.
VARIABLE = 'PARLAI_Q2_CACHE'


def default_store_path() -> Path:
    """
    ``$PARLAI_Q2_CACHE``, else ``scores.sqlite`` in
    :func:`~parlai_q2.files.cache_folder.cache_folder`.
    """
    given = os.environ.get(VARIABLE)
    if given:
        return Path(given).expanduser()
    return cache_folder() / 'scores.sqlite'
