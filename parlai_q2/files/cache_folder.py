"""
The folder for what can be made again.
"""

import os
from pathlib import Path


def cache_folder() -> Path:
    """
    ``parlai_q2`` in the user's cache folder (``$XDG_CACHE_HOME``, else ``~/.cache``, of
    a user without a home ``.cache`` in the current folder); it need not exist.
    """
    # The XDG specification: an empty or relative value counts as unset.
    cache = Path(os.environ.get('XDG_CACHE_HOME') or '')
    if not cache.is_absolute():
        # Where nothing says what home is, the tilde stays: no name for a folder.
        home = os.path.expanduser('~')
        cache = Path(os.getcwd() if home == '~' else home) / '.cache'
    return cache / 'parlai_q2'
