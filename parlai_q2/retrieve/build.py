"""
Makes an index of documents, or brings one up to date: reads new and changed documents,
and drops deleted ones.

New files are written beside the existing ones, and the manifest that names them comes
last: readers see the old index or the new one, never a mixture. An unchanged document
is not read again, and a stopped run resumes.

Symbolic links that lead out of their folder are left out, and so are hidden files and
folders (``.git``).
"""

import glob
import json
import os
import shutil
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from parlai_q2.errors import DocumentError, InputError
from parlai_q2.io.files import file_sha256, locked
from parlai_q2.io.write import as_write_error, write_text
from parlai_q2.retrieve.encoder import TextEncoder, load_encoder
from parlai_q2.retrieve.index import (
    BUILDING,
    BUILDING_VECTORS,
    LEFT_OUT,
    LOCKED,
    Checksum,
    IndexSettings,
    Manifest,
    check_files,
    check_folder,
    checksums,
    content_digest,
    drop_others,
    next_number,
    read_manifest,
    write_manifest,
)
from parlai_q2.retrieve.readers import ENDINGS, ReadingProcess, check_packages
from parlai_q2.retrieve.split import split
from parlai_q2.retrieve.store import Document, Store
from parlai_q2.retrieve.vectors import STATE, Vectors, make_vectors
from parlai_q2.turns import Passage

BUILD_STATE = 'settings.json'
REMEDY = 'Free some disk space, or choose another --outdir.'
# Seconds between commits, and thus the most work that a stopped run loses.
COMMIT_SECONDS = 30.0
# Larger documents are refused, except those that are read line by line.
LARGEST = 200_000_000
LINE_BY_LINE = ('.csv', '.tsv', '.jsonl', '.ndjson')


@dataclass
class Documents:
    """
    Documents in order, and the files beside them that are left out.

    :param files: each document by the name that passages carry: its path as given.
    :param of_other_kinds: files of kinds that are not read.
    :param links: links that lead out of their folder.
    """

    files: dict[str, Path] = field(default_factory=dict)
    of_other_kinds: list[Path] = field(default_factory=list)
    links: list[Path] = field(default_factory=list)

    def add(self, path: Path) -> None:
        """Add a file under its name, or to the files that are left out."""
        if not path.is_file():
            return
        if path.suffix.lower() in ENDINGS:
            name = os.path.normpath(path).replace(os.sep, '/')
            self.files[name.encode('utf-8', 'replace').decode('utf-8')] = path
        else:
            self.of_other_kinds.append(path)

    def add_folder(self, folder: Path) -> None:
        """Add the files in a folder and its subfolders."""
        for parent, folders, files in os.walk(folder):
            folders[:] = sorted(name for name in folders if not name.startswith('.'))
            # os.walk does not follow links to folders, and neither do we.
            for name in [*sorted(files), *folders]:
                path = Path(parent, name)
                if not name.startswith('.') and self._stays_in(folder, path):
                    self.add(path)

    def add_matches(self, pattern: str) -> bool:
        """Add what matches a pattern; return whether anything does."""
        matches = sorted(map(Path, glob.glob(pattern, recursive=True)))
        folder = Path(pattern)
        while glob.has_magic(str(folder)):
            folder = folder.parent
        for match in matches:
            stays = self._stays_in(folder, match)
            # A pattern with ** matches the content of folders, too.
            if stays and match.is_dir() and '**' not in pattern:
                self.add_folder(match)
            elif stays:
                self.add(match)
        return bool(matches)

    def _stays_in(self, folder: Path, path: Path) -> bool:
        """Whether a path in a folder leads nowhere else; note it if it does."""
        root = os.path.realpath(folder)
        stays = os.path.commonpath([root, os.path.realpath(path)]) == root
        if not stays:
            self.links.append(path)
        return stays


def find_documents(paths: Sequence[str]) -> Documents:
    """
    Find the documents that paths name: files, folders with all that is in them, and
    patterns (``**/*.md``).

    :raises InputError: if a path does not exist, or there is no document at all.
    """
    documents = Documents()
    for name in paths:
        path = Path(name).expanduser()
        if path.is_dir():
            documents.add_folder(path)
        elif path.exists():
            documents.add(path)
        elif not (glob.has_magic(str(path)) and documents.add_matches(str(path))):
            raise InputError(
                f'There is no {name}. Give a file, a folder, or a pattern in quotes '
                'that matches some.'
            )
    if not documents.files:
        raise InputError(
            f'There is no document in {", ".join(map(str, paths))}. These endings are '
            f'read: {", ".join(sorted(ENDINGS))}.'
        )
    return documents


@dataclass
class Changes:
    """
    The changes of a run: documents by their fate.

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
    settings: IndexSettings | None = None,
    *,
    documents: Documents | None = None,
    report_document: Callable[[str], object] = lambda name: None,
    report_vectors: Callable[[int, int], object] = lambda count, total: None,
) -> tuple[Manifest, Changes]:
    """
    Make an index of the documents under paths, or bring one up to date: documents that
    are no longer there leave it.

    :param index: its folder.
    :param documents: the documents, if they were found before.
    :param report_document: called with each document's name when it is done.
    :param report_vectors: called with the number of passages that have vectors, and of
        all passages.
    :raises InputError: if no document can be read, or the folder has other files or
        cannot be written.
    """
    settings = settings or IndexSettings()
    name = settings.search.encoder
    # Check that the model is available before hours are spent.
    encoder = load_encoder(name) if name else None
    documents = documents or find_documents(paths)
    for ending in sorted({path.suffix.lower() for path in documents.files.values()}):
        check_packages(ending)
    with as_write_error(index, REMEDY):
        check_folder(index)
        index.mkdir(parents=True, exist_ok=True)
        try:
            with locked(index / LOCKED, 0.1, needed=False):
                builder = _Builder(index, settings, encoder)
                return builder.build(documents, report_document, report_vectors)
        except TimeoutError:
            raise InputError(
                f'Another run is writing {index}. Wait for it, or choose another '
                '--outdir.'
            ) from None


def _update(
    store: Store,
    settings: IndexSettings,
    documents: Documents,
    next_key: int,
    report: Callable[[str], object],
) -> Changes:
    """Bring a store up to date; ``next_key`` is the number of the next passage."""
    stored, changes = store.documents(), Changes()
    for name in stored.keys() - documents.files.keys():
        store.remove(name)
        changes.removed.append(name)
    committed = time.monotonic()
    with ReadingProcess() as process:
        for name, path in documents.files.items():
            old = stored.get(name)
            try:
                document = _examine(name, path, old, next_key)
                if document is None:
                    changes.unchanged += 1
                else:
                    passages = _read_passages(name, path, settings, process)
                    next_key += _put(store, document, passages, old is None)
                    (changes.added if old is None else changes.changed).append(name)
            except InputError as e:
                changes.refused.append(_document_error(name, e))
                if old is not None:
                    store.remove(name)
                    changes.removed.append(name)
            report(name)
            if time.monotonic() - committed > COMMIT_SECONDS:
                store.commit()
                committed = time.monotonic()
    return changes


def _read_passages(
    name: str, path: Path, settings: IndexSettings, process: ReadingProcess
) -> Iterable[Passage]:
    """Read a document's passages, all before anything is changed unless it is huge."""
    passages = split(
        name, process.read(path), settings.words, settings.overlap, settings.sentences
    )
    return passages if path.suffix.lower() in LINE_BY_LINE else list(passages)


def _put(
    store: Store, document: Document, passages: Iterable[Passage], is_new: bool
) -> int:
    """Put a document into a store, in place of its old version; count its passages."""
    if not is_new:
        store.remove(document.name)
    count = store.add(document, passages)
    if not count:
        raise DocumentError(document.name, 'it has no text')
    return count


def _examine(
    name: str, path: Path, stored: Document | None, first: int
) -> Document | None:
    """Examine a document's file; None if it has not changed."""
    try:
        state = path.stat()
        version = state.st_size, state.st_mtime_ns
        if stored and (stored.size, stored.changed) == version:
            return None
        if state.st_size > LARGEST and path.suffix.lower() not in LINE_BY_LINE:
            raise DocumentError(
                name, f'it has {state.st_size:,} bytes; at most {LARGEST:,} are read'
            )
        sha256 = file_sha256(path)
    except OSError as e:
        raise DocumentError(name, f'it cannot be read: {e.strerror}') from e
    if stored and stored.sha256 == sha256:
        return None
    return Document(name, sha256, *version, first)


def _document_error(name: str, error: InputError) -> DocumentError:
    if isinstance(error, DocumentError):
        return error
    problem = str(error).rstrip('.')
    if problem.startswith(f'{name} '):
        problem = f'it{problem.removeprefix(name)}'
    return DocumentError(name, problem)


def _write_left_out(folder: Path, documents: Documents, changes: Changes) -> None:
    """Write the list :data:`LEFT_OUT`; remove it if there is nothing to list."""
    reasons = {error.path: error.problem for error in changes.refused}
    reasons |= {str(link): 'it leads out of its folder' for link in documents.links}
    reasons |= {
        str(path): 'files of its kind are not read' for path in documents.of_other_kinds
    }
    lines = [
        json.dumps({'file': name, 'reason': reason}, ensure_ascii=True) + '\n'
        for name, reason in sorted(reasons.items())
    ]
    if lines:
        write_text(folder / LEFT_OUT, ''.join(lines))
    else:
        (folder / LEFT_OUT).unlink(missing_ok=True)


class _Builder:
    """Builds an index; ``old`` is the existing manifest, or None."""

    def __init__(
        self, index: Path, settings: IndexSettings, encoder: TextEncoder | None
    ):
        self.index, self.settings, self.encoder = index, settings, encoder
        self.building = index / BUILDING
        self.old = read_manifest(index)
        if self.old is not None:
            # An index built on a damaged one would be damaged, too.
            check_files(index, self.old, whole=True)

    def build(
        self,
        documents: Documents,
        report_document: Callable[[str], object],
        report_vectors: Callable[[int, int], object],
    ) -> tuple[Manifest, Changes]:
        old_vectors = self._usable_vectors()
        self._begin()
        store = Store(self.building, self.settings.language)
        next_key = _next_key(store, old_vectors)
        changes = _update(store, self.settings, documents, next_key, report_document)
        _write_left_out(self.index, documents, changes)
        store.finish()
        stored = store.documents()
        if not any(document.count for document in stored.values()):
            shutil.rmtree(self.building, ignore_errors=True)
            why = f': {changes.refused[0]}' if changes.refused else '.'
            raise InputError(f'None of the documents could be read{why}')
        # Do not ask whether this run changed anything: an earlier, stopped run may
        # have.
        content = content_digest(self.settings, stored.values())
        has_same_vectors = (old_vectors is not None) == (self.encoder is not None)
        if self.old is not None and self.old.content == content and has_same_vectors:
            shutil.rmtree(self.building, ignore_errors=True)
            drop_others(self.index, self.old)
            return self.old, changes
        if self.encoder is not None:
            folder = self.index / BUILDING_VECTORS
            make_vectors(folder, store, self.encoder, old_vectors, report_vectors)
        return self._put_in_place(content, stored), changes

    def _usable_vectors(self) -> Path | None:
        """The folder of vectors, if the same encoder made them of the same passages."""
        old, encoder = self.old, self.encoder
        if old is None or encoder is None or old.vectors is None:
            return None
        is_usable = old.encoder == encoder.identity() and old.settings.same_passages(
            self.settings
        )
        return self.index / old.vectors if is_usable else None

    def _begin(self) -> None:
        """Begin with the work of a stopped run, with the old index, or from scratch."""
        old, written = self.old, self.building / BUILD_STATE
        state = {**asdict(self.settings), 'base': old.folder if old else None}
        with suppress(OSError, ValueError):
            if json.loads(written.read_text(encoding='utf-8')) == state:
                for lock in self.building.glob('.tantivy-*.lock'):
                    lock.unlink()
                return
        # Vectors of passages that were split differently are useless, too.
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
        """Move the built files into place, and write the manifest that names them."""
        # The folders in construction, the file in each that lets a stopped run resume,
        # and their final names.
        number = next_number(self.index)
        parts = [(self.building, BUILD_STATE, f'words-{number}')]
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
            encoder=self.encoder.identity() if self.encoder else None,
        )
        # From here on, a stopped run loses its work, so all steps are short.
        for folder, state, name in parts:
            (folder / state).unlink()
            os.replace(folder, self.index / name)
        write_manifest(self.index, manifest)
        drop_others(self.index, manifest)
        return manifest


def _next_key(store: Store, vectors: Path | None) -> int:
    """The number of the next passage, above those of all existing vectors."""
    documents = store.documents().values()
    next_key = max((d.first + d.count for d in documents), default=0)
    if vectors is None:
        return next_key
    return max(next_key, int(max(Vectors.open(vectors).keys, default=-1)) + 1)


def _link(path: Path, copy: Path) -> None:
    # Segments never change, so a hard link is as good as a copy; the lists of segments
    # are replaced by renaming.
    try:
        os.link(path, copy)
    except OSError:
        shutil.copyfile(path, copy)
