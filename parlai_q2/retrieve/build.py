"""
Makes an index of documents, or brings one up to date.

What is new is written beside what is there, and the manifest that names it comes last:
whoever opens the index sees the old one or the new one, never a half. A document that
has not changed is not read again, and a run that was stopped goes on where it was.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Optional

from parlai_q2.errors import InputError
from parlai_q2.io.files import locked
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
from parlai_q2.retrieve.readers import check_packages
from parlai_q2.retrieve.store import Document, Store
from parlai_q2.retrieve.update import Changes, Updater, write_left_out
from parlai_q2.retrieve.vectors import STATE, Vectors, make_vectors

BUILDING, SETTINGS = 'building', 'settings.json'
BUILDING_VECTORS = 'vectors-building'
DEFAULT = Settings()
DISK = 'Free some disk space, or choose another --outdir.'


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
    updater = Updater(store, settings, _first_free(store, fitting), seconds, done)
    changes = updater.run(found)
    write_left_out(index, found, changes)
    store.finish()
    documents = store.documents()
    if not any(document.count for document in documents.values()):
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
    if encoder is not None:
        make_vectors(index / BUILDING_VECTORS, store, encoder, fitting, encoded)
    return _put_in_place(index, settings, content, documents, encoder), changes


def _first_free(store: Store, vectors: Optional[Path]) -> int:
    """The number of the next passage: none may get that of one that has a vector."""
    known = store.documents().values()
    following = max((d.first + d.count for d in known), default=0)
    if vectors is None:
        return following
    return max(following, int(max(Vectors(vectors).keys, default=-1)) + 1)


def _put_in_place(
    index: Path,
    settings: Settings,
    content: str,
    documents: Mapping[str, Document],
    encoder: Optional[TextEncoder],
) -> Manifest:
    """Give what was built its place, and write the manifest that names it."""
    # Folders as they are built, the file of each that lets a stopped run go on, and
    # what they will be called.
    number = 1 + max(map(_number_of, index.glob('*-*')), default=0)
    parts = [(index / BUILDING, SETTINGS, f'words-{number}')]
    if encoder is not None:
        parts.append((index / BUILDING_VECTORS, STATE, f'vectors-{number}'))
    sums: dict[str, Sum] = {}
    for folder, state, name in parts:
        sums.update(sums_of(folder, name, state))
    manifest = Manifest(
        settings,
        parts[0][2],
        content,
        sum(document.count for document in documents.values()),
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
    return manifest


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


def _drop_others(index: Path, manifest: Manifest) -> None:
    """Delete what the manifest does not name any more, or was left by stopped runs."""
    for path in (*index.glob('words-*'), *index.glob('vectors-*')):
        if path.name not in (manifest.folder, manifest.vectors):
            shutil.rmtree(path, ignore_errors=True)
