"""
Brings the passages of an index up to date with documents: reads what is new or has
changed, and drops what is not there any more.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional

from parlai_q2.errors import DocumentError, InputError
from parlai_q2.io.files import file_sha256
from parlai_q2.retrieve.files import Documents
from parlai_q2.retrieve.manifest import Settings
from parlai_q2.retrieve.readers import APART, HERE
from parlai_q2.retrieve.readers.process import ReadingProcess
from parlai_q2.retrieve.split import split
from parlai_q2.retrieve.store import Document, Store
from parlai_q2.turns import Passage

# Seconds between commits: so much work is lost when a run is stopped.
COMMIT_SECONDS = 30.0
# Larger documents are refused, except those that are read line by line.
LARGEST = 200_000_000
LINE_BY_LINE = ('.csv', '.tsv', '.jsonl', '.ndjson')


@dataclass
class Changes:
    """
    What a run did: documents by what became of them.

    :param refused: each document that could not be read, with the reason.
    """

    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    unchanged: int = 0
    refused: list[DocumentError] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.removed)


def brought_up_to_date(
    store: Store,
    found: Documents,
    settings: Settings,
    following: int,
    done: Callable[[str], Any],
    seconds: Optional[float],
) -> Changes:
    """
    Bring a store up to date with the documents that were found.

    :param following: the number of the next passage.
    """
    known, changes = store.documents(), Changes()
    for name in known.keys() - found.files.keys():
        store.remove(name)
        changes.removed.append(name)
    committed = time.monotonic()
    with ReadingProcess(**({'seconds': seconds} if seconds else {})) as process:
        for name, path in found.files.items():
            try:
                document = _looked_at(name, path, known.get(name), following)
                if document is None:
                    changes.unchanged += 1
                    done(name)
                    continue
                passages = _passages(name, path, settings, process)
                # Read as a whole before anything is changed, unless it may be huge.
                if path.suffix.lower() not in LINE_BY_LINE:
                    passages = iter(list(passages))
                if name in known:
                    store.remove(name)
                count = store.add(document, passages)
                if not count:
                    raise DocumentError(name, 'it has no text')
                following += count
                (changes.changed if name in known else changes.added).append(name)
            except InputError as e:
                changes.refused.append(_document_error(name, e))
                if name in known:
                    store.remove(name)
                    changes.removed.append(name)
            done(name)
            if time.monotonic() - committed > COMMIT_SECONDS:
                store.commit()
                committed = time.monotonic()
    return changes


def _looked_at(
    name: str, path: Path, known: Optional[Document], first: int
) -> Optional[Document]:
    """The document as it is now; None if it has not changed."""
    try:
        state = path.stat()
        if known and (known.size, known.changed) == (state.st_size, state.st_mtime_ns):
            return None
        if state.st_size > LARGEST and path.suffix.lower() not in LINE_BY_LINE:
            raise DocumentError(
                name, f'it has {state.st_size:,} bytes; at most {LARGEST:,} are read'
            )
        sha256 = file_sha256(path)
    except OSError as e:
        raise DocumentError(name, f'it cannot be read: {e.strerror}') from e
    if known and known.sha256 == sha256:
        return None
    return Document(name, sha256, state.st_size, state.st_mtime_ns, first, 0)


def _passages(
    name: str, path: Path, settings: Settings, process: ReadingProcess
) -> Iterator[Passage]:
    ending = path.suffix.lower()
    read = process.read if ending in APART else HERE[ending]
    yield from split(name, read(path), settings.length)


def _document_error(name: str, error: InputError) -> DocumentError:
    if isinstance(error, DocumentError):
        return error
    said = str(error).rstrip('.')
    if said.startswith(f'{name} '):
        said = f'it{said.removeprefix(name)}'
    return DocumentError(name, said)
