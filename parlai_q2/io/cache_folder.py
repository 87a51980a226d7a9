"""
The folder for files that can be created again.
"""

import os
from pathlib import Path


def cache_folder() -> Path:
    """
    The folder ``parlai_q2`` in the user's cache folder; it may not exist yet.

    The cache folder is ``$XDG_CACHE_HOME``, or else ``~/.cache``, or ``.cache`` in the
    current folder for a user without a home.
    """
    # According to the XDG specification, an empty or relative value counts as unset.
    cache = Path(os.environ.get('XDG_CACHE_HOME') or '')
    if not cache.is_absolute():
        # expanduser leaves the tilde if it finds no home; do not use it as a name.
        home = os.path.expanduser('~')
        cache = Path(os.getcwd() if home == '~' else home) / '.cache'
    return cache / 'parlai_q2'
