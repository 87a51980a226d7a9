"""
The folder for what can be made again.
"""

import os
from pathlib import Path


def cache_folder() -> Path:
    """
    ``parlai_q2`` in the user's cache folder (``$XDG_CACHE_HOME``, else ``~/.cache``);
    it need not exist.
    """
    # The XDG specification: an empty or relative value counts as unset.
    cache = Path(os.environ.get('XDG_CACHE_HOME') or '')
    if not cache.is_absolute():
        cache = Path(os.path.expanduser('~')) / '.cache'
    return cache / 'parlai_q2'
