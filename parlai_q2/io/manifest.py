"""The manifest of an output that is a folder of files (shards)."""

import json
from collections.abc import Sequence

from parlai_q2.errors import InputError
from parlai_q2.io.locations import Location, Stdin, locate, read_state
from parlai_q2.io.write import META

MANIFEST = 'manifest.json'


def shards_in(folder: Location) -> Sequence[Location]:
    """
    The files of a sharded output that have records, as its manifest has them.

    :raises InputError: if there is no manifest, no file has a record, or a file is
        missing or another.
    """
    assert not isinstance(folder, Stdin), 'it is no folder'
    try:
        with (folder / MANIFEST).open('rb') as stream:
            manifest = json.load(stream)
        shards = [shard for shard in manifest['shards'] if shard['records']]
        entries = [(folder / shard['file'], shard['bytes']) for shard in shards]
    except (OSError, ValueError, LookupError, TypeError) as e:
        raise InputError(
            f'{folder} has no readable {MANIFEST}, so the run that wrote it is not '
            'complete. Run the same command again.'
        ) from e
    if not entries:
        raise InputError(f'{folder} holds no record, as its {MANIFEST} says.')
    for path, size in entries:
        if not path.is_file() or read_state(path)['size'] != size:
            raise InputError(
                f'{path} is not the file that {MANIFEST} lists. Run the same command '
                'that wrote it again.'
            )
    return [path for path, _ in entries]


def records_in(path: Location) -> int | None:
    """
    How many records a file or a folder of files has, by the summary beside it or the
    manifest in it; None if there is none.
    """
    if isinstance(path, Stdin):
        return None
    summary: Location
    summary = path / MANIFEST if path.is_dir() else locate(f'{path}{META}')
    try:
        with summary.open('rb') as stream:
            counts = json.load(stream)
        return int(counts.get('records', counts.get('pools')))
    except (OSError, ValueError, TypeError, AttributeError):
        return None
