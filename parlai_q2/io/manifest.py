"""The manifest of an output that is a folder of files (shards)."""

import json
from collections.abc import Sequence
from pathlib import Path

from parlai_q2.errors import InputError

MANIFEST = 'manifest.json'


def shards_in(folder: Path) -> Sequence[Path]:
    """
    The files of a sharded output, as its manifest has them.

    :raises InputError: if there is no manifest, or a file is missing or another.
    """
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding='utf-8'))
        entries = [(folder / one['file'], one['bytes']) for one in manifest['shards']]
    except (OSError, ValueError, LookupError, TypeError) as e:
        raise InputError(
            f'{folder} is a folder without a readable {MANIFEST}, which a run that '
            'has written all of its shards leaves there. Run the same command again '
            'to complete it.'
        ) from e
    for path, size in entries:
        if not path.is_file() or path.stat().st_size != size:
            raise InputError(
                f'{path} is not the file that {MANIFEST} lists. Run the same command '
                'that wrote it again.'
            )
    return [path for path, _ in entries]
