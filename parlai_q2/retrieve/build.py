"""
Makes an index of documents, or brings one up to date.

What is new is written beside what is there, and the manifest that names it comes last:
whoever opens the index sees the old one or the new one, never a half. A document that
has not changed is not read again, and a run that was stopped goes on where it was.
"""

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Optional

from parlai_q2.errors import DocumentError, InputError
from parlai_q2.io.files import file_sha256, locked
from parlai_q2.io.write import writing
from parlai_q2.retrieve.encoder import TextEncoder, load_encoder
from parlai_q2.retrieve.files import Documents, find_documents
from parlai_q2.retrieve.manifest import (
    Manifest,
    Settings,
    Sum,
    check,
    content_of,
    read_manifest,
    sums_of,
    write_manifest,
)
from parlai_q2.retrieve.readers import APART, HERE, check_packages
from parlai_q2.retrieve.readers.process import ReadingProcess
from parlai_q2.retrieve.split import split
from parlai_q2.retrieve.store import Document, Store
from parlai_q2.retrieve.vectors import STATE, Vectors, make_vectors
from parlai_q2.turns import Passage

BUILDING, SETTINGS = 'building', 'settings.json'
BUILDING_VECTORS = 'vectors-building'
# Seconds between commits: so much work is lost when a run is stopped.
COMMIT_SECONDS = 30.0
# Larger documents are refused, except those that are read line by line.
LARGEST = 200_000_000
LINE_BY_LINE = ('.csv', '.tsv', '.jsonl', '.ndjson')
DEFAULT = Settings()
DISK = 'Free some disk space, or choose another --outdir.'


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


def build(
    paths: Sequence[str],
    index: Path,
    settings: Settings = DEFAULT,
    done: Callable[[str], Any] = lambda name: None,
    found: Optional[Documents] = None,
    seconds: Optional[float] = None,
    encoded: Callable[[int, int], Any] = lambda done, of: None,
) -> tuple[Manifest, Changes]:
    """
    Make an index of the documents under paths, or bring one up to date: what is not
    under them any more leaves it.

    :param index: its folder.
    :param done: called with each document's name when it is done.
    :param found: the documents, if they were looked for before.
    :param seconds: how long one document may take to read.
    :param encoded: called with how many passages have their vectors, and of how many.
    :raises InputError: if there is no document that can be read, or the folder has
        something else or cannot be written.
    """
    settings.check()
    search = settings.search
    # Before hours are spent: whether the model is here.
    encoder = load_encoder(search.encoder) if search.encoder else None
    found = found or find_documents(paths)
    for ending in sorted({path.suffix.lower() for path in found.files.values()}):
        check_packages(ending)
    with writing(index, DISK):
        _check_folder(index)
        index.mkdir(parents=True, exist_ok=True)
        with _held(index):
            return _build(found, index, settings, done, seconds, encoder, encoded)


def _check_folder(index: Path) -> None:
    if index.exists() and not index.is_dir():
        raise InputError(f'{index} is not a folder. Choose another --outdir.')
    ours = ('index.json', BUILDING, '.lock')
    if index.is_dir() and (names := os.listdir(index)):
        if not any(name.endswith(ours) for name in names):
            raise InputError(f'{index} has other files. Choose another --outdir.')


@contextmanager
def _held(index: Path) -> Iterator[None]:
    try:
        with locked(index / 'index', 0.1, needed=False):
            yield
    except TimeoutError:
        raise InputError(
            f'Another run is writing {index}. Wait for it, or choose another --outdir.'
        ) from None


def _build(
    found: Documents,
    index: Path,
    settings: Settings,
    done: Callable[[str], Any],
    seconds: Optional[float],
    encoder: Optional[TextEncoder],
    encoded: Callable[[int, int], Any],
) -> tuple[Manifest, Changes]:
    old = read_manifest(index)
    if old is not None:
        # What is built on it would be damaged, too.
        check(index, old, whole=True)
    fitting = _vectors_of(index, old, settings, encoder)
    building = index / BUILDING
    _begin(index, building, old, settings)
    store = Store(building, settings.language)
    known, changes = store.documents(), Changes()
    following = max((d.first + d.count for d in known.values()), default=0)
    if fitting is not None:
        # A passage may not get the number of one that has a vector.
        following = max(following, int(max(Vectors(fitting).keys, default=-1)) + 1)
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
                problem = (
                    e if isinstance(e, DocumentError) else _document_error(name, e)
                )
                changes.refused.append(problem)
                if name in known:
                    store.remove(name)
                    changes.removed.append(name)
            done(name)
            if time.monotonic() - committed > COMMIT_SECONDS:
                store.commit()
                committed = time.monotonic()
    store.finish()
    documents = store.documents()
    passages_count = sum(document.count for document in documents.values())
    if not passages_count:
        shutil.rmtree(building)
        why = f': {changes.refused[0]}' if changes.refused else '.'
        raise InputError(f'None of the documents could be read{why}')
    # Not whether this run changed anything: one before it, that was stopped, may have.
    content = content_of(settings, documents.values())
    same = old is not None and old.content == content
    if old is not None and same and (fitting is not None) == (encoder is not None):
        shutil.rmtree(building)
        _drop_others(index, old)
        return old, changes
    # Folders as they are built, the file of each that lets a stopped run go on, and
    # what they will be called.
    number = 1 + max(map(_number_of, index.glob('*-*')), default=0)
    parts = [(building, SETTINGS, f'words-{number}')]
    if encoder is not None:
        parts.append((index / BUILDING_VECTORS, STATE, f'vectors-{number}'))
        make_vectors(parts[1][0], store, encoder, fitting, encoded)
    sums: dict[str, Sum] = {}
    for folder, state, name in parts:
        sums.update(sums_of(folder, name, state))
    manifest = Manifest(
        settings,
        parts[0][2],
        content,
        passages_count,
        len(documents),
        sums,
        parts[1][2] if encoder else None,
        encoder.identity if encoder else None,
    )
    # From here on a run that is stopped loses its work, so nothing here takes long.
    for folder, state, name in parts:
        (folder / state).unlink()
        os.replace(folder, index / name)
    write_manifest(index, manifest)
    _drop_others(index, manifest)
    return manifest, changes


def _number_of(path: Path) -> int:
    number = path.name.rpartition('-')[2]
    return int(number) if number.isdigit() else 0


def _vectors_of(
    index: Path,
    old: Optional[Manifest],
    settings: Settings,
    encoder: Optional[TextEncoder],
) -> Optional[Path]:
    """The folder of vectors that the same encoder made of the same passages."""
    if old is None or encoder is None or old.vectors is None:
        return None
    fits = old.encoder == encoder.identity and old.settings.same_passages(settings)
    return index / old.vectors if fits else None


def _begin(
    index: Path, building: Path, old: Optional[Manifest], settings: Settings
) -> None:
    """Go on with what a stopped run left, with the index as it is, or with nothing."""
    written = building / SETTINGS
    wanted = {**asdict(settings), 'base': old.folder if old else None}
    with suppress(OSError, ValueError):
        if json.loads(written.read_text(encoding='utf-8')) == wanted:
            for lock in building.glob('.tantivy-*.lock'):
                lock.unlink()
            return
    # Vectors of passages that were split otherwise are of no use, either.
    for left in (building, index / BUILDING_VECTORS):
        shutil.rmtree(left, ignore_errors=True)
    building.mkdir()
    if old is not None and old.settings.same_passages(settings):
        for path in (index / old.folder).iterdir():
            if not path.name.endswith('.lock'):
                _linked(path, building / path.name)
    written.write_text(json.dumps(wanted), encoding='utf-8')


def _linked(path: Path, other: Path) -> None:
    # Segments are never changed, so that a second name is as good as a copy; the lists
    # of segments are replaced, but by rename.
    try:
        os.link(path, other)
    except OSError:
        shutil.copyfile(path, other)


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
    return DocumentError(name, str(error).rstrip('.'))


def _drop_others(index: Path, manifest: Manifest) -> None:
    """Delete what the manifest does not name any more, or was left by stopped runs."""
    for path in (*index.glob('words-*'), *index.glob('vectors-*')):
        if path.name not in (manifest.folder, manifest.vectors):
            shutil.rmtree(path, ignore_errors=True)
