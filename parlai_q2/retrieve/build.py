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
from typing import Any

from parlai_q2.errors import InputError
from parlai_q2.io.files import locked
from parlai_q2.io.write import writing
from parlai_q2.retrieve.documents import (
    LEFT_OUT,
    Changes,
    Documents,
    Updater,
    find_documents,
    write_left_out,
)
from parlai_q2.retrieve.encoder import TextEncoder, load_encoder
from parlai_q2.retrieve.index import (
    Checksum,
    Manifest,
    Settings,
    check_files,
    checksums,
    content_digest,
    read_manifest,
    write_manifest,
)
from parlai_q2.retrieve.readers import check_packages
from parlai_q2.retrieve.store import Document, Store
from parlai_q2.retrieve.vectors import STATE, Vectors, make_vectors

BUILDING, SETTINGS = 'building', 'settings.json'
BUILDING_VECTORS = 'vectors-building'
REMEDY = 'Free some disk space, or choose another --outdir.'
Progress = Callable[[int, int], Any]


def build(
    paths: Sequence[str],
    index: Path,
    settings: Settings | None = None,
    *,
    documents: Documents | None = None,
    report_document: Callable[[str], object] = lambda name: None,
    report_vectors: Progress = lambda count, total: None,
) -> tuple[Manifest, Changes]:
    """
    Make an index of the documents under paths, or bring one up to date: what is not
    under them any more leaves it.

    :param index: its folder.
    :param documents: the documents, if they were looked for before.
    :param report_document: called with each document's name when it is done.
    :param report_vectors: called with how many passages have their vectors, and of how
        many.
    :raises InputError: if there is no document that can be read, or the folder has
        something else or cannot be written.
    """
    settings = settings or Settings()
    settings.check()
    name = settings.search.encoder
    # Before hours are spent: whether the model is here.
    encoder = load_encoder(name) if name else None
    documents = documents or find_documents(paths)
    for ending in sorted({path.suffix.lower() for path in documents.files.values()}):
        check_packages(ending)
    with writing(index, REMEDY):
        _check_folder(index)
        index.mkdir(parents=True, exist_ok=True)
        with _hold(index):
            builder = _Builder(index, settings, encoder)
            return builder.build(documents, report_document, report_vectors)


def _check_folder(index: Path) -> None:
    if index.exists() and not index.is_dir():
        raise InputError(f'{index} is not a folder. Choose another --outdir.')
    endings = ('index.json', BUILDING, '.lock', LEFT_OUT)
    if (
        index.is_dir()
        and (names := os.listdir(index))
        and not any(name.endswith(endings) for name in names)
    ):
        raise InputError(f'{index} has other files. Choose another --outdir.')


@contextmanager
def _hold(index: Path) -> Iterator[None]:
    try:
        with locked(index / 'index', 0.1, needed=False):
            yield
    except TimeoutError:
        raise InputError(
            f'Another run is writing {index}. Wait for it, or choose another --outdir.'
        ) from None


class _Builder:
    """Builds an index, of which ``old`` is the manifest; None if there is none."""

    def __init__(self, index: Path, settings: Settings, encoder: TextEncoder | None):
        self.index, self.settings, self.encoder = index, settings, encoder
        self.building = index / BUILDING
        self.old = read_manifest(index)
        if self.old is not None:
            # What is built on it would be damaged, too.
            check_files(index, self.old, whole=True)

    def build(
        self,
        documents: Documents,
        report_document: Callable[[str], object],
        report_vectors: Progress,
    ) -> tuple[Manifest, Changes]:
        old_vectors = self._usable_vectors()
        self._begin()
        store = Store(self.building, self.settings.language)
        next_key = _next_key(store, old_vectors)
        updater = Updater(store, self.settings, next_key, report_document)
        changes = updater.run(documents)
        write_left_out(self.index, documents, changes)
        store.finish()
        stored = store.documents()
        if not any(document.count for document in stored.values()):
            shutil.rmtree(self.building, ignore_errors=True)
            why = f': {changes.refused[0]}' if changes.refused else '.'
            raise InputError(f'None of the documents could be read{why}')
        # Not whether this run changed anything: one before it, that was stopped, may
        # have.
        content = content_digest(self.settings, stored.values())
        has_same_vectors = (old_vectors is not None) == (self.encoder is not None)
        if self.old is not None and self.old.content == content and has_same_vectors:
            shutil.rmtree(self.building, ignore_errors=True)
            _drop_others(self.index, self.old)
            return self.old, changes
        if self.encoder is not None:
            folder = self.index / BUILDING_VECTORS
            make_vectors(folder, store, self.encoder, old_vectors, report_vectors)
        return self._put_in_place(content, stored), changes

    def _usable_vectors(self) -> Path | None:
        """The folder of vectors that the same encoder made of the same passages."""
        old, encoder = self.old, self.encoder
        if old is None or encoder is None or old.vectors is None:
            return None
        is_usable = old.encoder == encoder.identity and old.settings.same_passages(
            self.settings
        )
        return self.index / old.vectors if is_usable else None

    def _begin(self) -> None:
        """Go on with what a stopped run left, with the index as it is, or afresh."""
        old, written = self.old, self.building / SETTINGS
        state = {**asdict(self.settings), 'base': old.folder if old else None}
        with suppress(OSError, ValueError):
            if json.loads(written.read_text(encoding='utf-8')) == state:
                for lock in self.building.glob('.tantivy-*.lock'):
                    lock.unlink()
                return
        # Vectors of passages that were split otherwise are of no use, either.
        for rest in (self.building, self.index / BUILDING_VECTORS):
            shutil.rmtree(rest, ignore_errors=True)
        self.building.mkdir(exist_ok=True)
        if old is not None and old.settings.same_passages(self.settings):
            for path in (self.index / old.folder).iterdir():
                if not path.name.endswith('.lock'):
                    _link(path, self.building / path.name)
        written.write_text(json.dumps(state), encoding='utf-8')

    def _put_in_place(
        self, content: str, documents: Mapping[str, Document]
    ) -> Manifest:
        """Give what was built its place, and write the manifest that names it."""
        # Folders as they are built, the file of each that lets a stopped run go on, and
        # what they will be called.
        number = 1 + max(map(_number, self.index.glob('*-*')), default=0)
        parts = [(self.building, SETTINGS, f'words-{number}')]
        if self.encoder is not None:
            folder = self.index / BUILDING_VECTORS
            parts.append((folder, STATE, f'vectors-{number}'))
        sums: dict[str, Checksum] = {}
        for folder, state, name in parts:
            sums |= checksums(folder, name, state)
        manifest = Manifest(
            settings=self.settings,
            folder=parts[0][2],
            content=content,
            passages=sum(document.count for document in documents.values()),
            documents=len(documents),
            sums=sums,
            vectors=parts[1][2] if self.encoder else None,
            encoder=self.encoder.identity if self.encoder else None,
        )
        # From here on a run that is stopped loses its work, so nothing here takes long.
        for folder, state, name in parts:
            (folder / state).unlink()
            os.replace(folder, self.index / name)
        write_manifest(self.index, manifest)
        _drop_others(self.index, manifest)
        return manifest


def _next_key(store: Store, vectors: Path | None) -> int:
    """The number of the next passage: none may get that of one that has a vector."""
    documents = store.documents().values()
    next_key = max((d.first + d.count for d in documents), default=0)
    if vectors is None:
        return next_key
    return max(next_key, int(max(Vectors.open(vectors).keys, default=-1)) + 1)


def _number(path: Path) -> int:
    number = path.name.rpartition('-')[2]
    return int(number) if number.isdigit() else 0


def _link(path: Path, copy: Path) -> None:
    # Segments are never changed, so that a second name is as good as a copy; the lists
    # of segments are replaced, but by rename.
    try:
        os.link(path, copy)
    except OSError:
        shutil.copyfile(path, copy)


def _drop_others(index: Path, manifest: Manifest) -> None:
    """Delete what the manifest does not name any more, or was left by stopped runs."""
    for path in (*index.glob('words-*'), *index.glob('vectors-*')):
        if path.name not in (manifest.folder, manifest.vectors):
            shutil.rmtree(path, ignore_errors=True)
