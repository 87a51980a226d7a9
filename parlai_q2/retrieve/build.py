"""
Makes an index of documents, or brings one up to date: reads new and changed documents,
and drops deleted ones.

Each run writes a new folder, and the manifest that names it comes last: readers see the
old index or the new one, never a mixture. What an existing folder has of an unchanged
document is copied, also from the folder of a run that was stopped.

Symbolic links that lead out of their folder are left out, and so are hidden files and
folders (``.git``).
"""

import glob
import json
import os
import shutil
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from parlai_q2.errors import DocumentError, InputError
from parlai_q2.io.files import file_sha256, locked
from parlai_q2.io.write import as_write_error, write_text
from parlai_q2.retrieve.encoder import TextEncoder, load_encoder
from parlai_q2.retrieve.index import (
    Manifest,
    Settings,
    check_files,
    checksums,
    content_digest,
    read_manifest,
    write_manifest,
)
from parlai_q2.retrieve.readers import ENDINGS, ReadingProcess, check_packages
from parlai_q2.retrieve.split import split
from parlai_q2.retrieve.store import Document, Store
from parlai_q2.retrieve.vectors import ROWS, make_vectors
from parlai_q2.turns import Passage

# Each run writes a folder of its own, with the settings that made its passages and
# vectors.
PART, MADE_BY = 'part-', 'made_by.json'
REMEDY = 'Free some disk space, or choose another --outdir.'
# Seconds between commits, and thus the most work that a stopped run loses.
COMMIT_SECONDS = 30.0
# The passages that are copied at a time.
BLOCK = 1024
# Larger documents are refused, except those that are read line by line.
LARGEST = 200_000_000
LINE_BY_LINE = ('.csv', '.tsv', '.jsonl', '.ndjson')
# In the index's folder, as JSON: the files that are not in the index, with reasons.
LEFT_OUT = 'left_out.jsonl'


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
        root = os.path.realpath(folder)
        for parent, folders, files in os.walk(folder):
            folders[:] = sorted(name for name in folders if not name.startswith('.'))
            # os.walk does not follow links to folders, and neither do we.
            for name in [*sorted(files), *folders]:
                path = Path(parent, name)
                if name.startswith('.'):
                    continue
                if os.path.commonpath([root, os.path.realpath(path)]) != root:
                    self.links.append(path)
                else:
                    self.add(path)


def find_documents(paths: Sequence[str]) -> Documents:
    """
    Find the documents that paths name: files, folders with all that is in them, and
    patterns (``**/*.md``).

    :raises InputError: if a path does not exist, or there is no document at all.
    """
    documents = Documents()
    for name in paths:
        path = Path(name).expanduser()
        matches = [path] if path.exists() else []
        if not matches and glob.has_magic(str(path)):
            matches = sorted(map(Path, glob.glob(str(path), recursive=True)))
        if not matches:
            raise InputError(
                f'There is no {name}. Give a file, a folder, or a pattern in quotes '
                'that matches some.'
            )
        for match in matches:
            # A pattern with ** matches the content of folders, too.
            if match.is_dir() and (match == path or '**' not in name):
                documents.add_folder(match)
            else:
                documents.add(match)
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
    settings: Settings | None = None,
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
    settings = settings or Settings()
    name = settings.search.encoder
    # Check that the model is available before hours are spent.
    encoder = load_encoder(name) if name else None
    documents = documents or find_documents(paths)
    for ending in sorted({path.suffix.lower() for path in documents.files.values()}):
        check_packages(ending)
    with as_write_error(index, REMEDY):
        _check_folder(index)
        index.mkdir(parents=True, exist_ok=True)
        try:
            with locked(index / 'index', 0.1, needed=False):
                builder = _Builder(index, settings, encoder)
                return builder.build(documents, report_document, report_vectors)
        except TimeoutError:
            raise InputError(
                f'Another run is writing {index}. Wait for it, or choose another '
                '--outdir.'
            ) from None


def _check_folder(index: Path) -> None:
    if index.exists() and not index.is_dir():
        raise InputError(f'{index} is not a folder. Choose another --outdir.')
    ours = ('index.json', 'index.lock', LEFT_OUT)
    if (
        index.is_dir()
        and (names := os.listdir(index))
        and not any(name in ours or name.startswith(PART) for name in names)
    ):
        raise InputError(f'{index} has other files. Choose another --outdir.')


def _document_error(name: str, error: InputError) -> DocumentError:
    if isinstance(error, DocumentError):
        return error
    problem = str(error).rstrip('.')
    if problem.startswith(f'{name} '):
        problem = f'it{problem.removeprefix(name)}'
    return DocumentError(name, problem)


def _write_left_out(
    folder: Path, documents: Documents, refused: Sequence[DocumentError]
) -> None:
    """Write the list :data:`LEFT_OUT`; remove it if there is nothing to list."""
    reasons = {error.path: error.problem for error in refused}
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


@dataclass(frozen=True)
class _Part:
    """
    A folder of documents that were read: of the old index, or of a stopped run.

    :param rows: the vectors of its passages, if this run's encoder made them.
    """

    store: Store
    documents: Mapping[str, Document]
    rows: np.ndarray | None

    def passages(self, document: Document) -> Iterator[Passage]:
        """The passages of one of its documents."""
        end = document.first + document.count
        for start in range(document.first, end, BLOCK):
            yield from self.store.passages(range(start, min(start + BLOCK, end)))


class _Builder:
    """
    Builds an index in a new folder, and takes from the existing parts what they have.

    :ivar old: the existing manifest, or None.
    """

    def __init__(self, index: Path, settings: Settings, encoder: TextEncoder | None):
        self.index, self.settings, self.encoder = index, settings, encoder
        self.identity = encoder.identity() if encoder is not None else None
        self.old = read_manifest(index)
        if self.old is not None:
            # An index built on a damaged one would be damaged, too.
            check_files(index, self.old, whole=True)
        self.made_by = asdict(settings)
        del self.made_by['search']
        # The newest first, which has most.
        folders = sorted(index.glob(f'{PART}*'), key=_number, reverse=True)
        parts = {folder.name: self._open(folder) for folder in folders}
        self.parts = {name: part for name, part in parts.items() if part is not None}
        self.folder = index / f'{PART}{1 + max(map(_number, folders), default=0)}'
        self.folder.mkdir()
        made_by = {'passages': self.made_by, 'encoder': self.identity}
        write_text(self.folder / MADE_BY, json.dumps(made_by))
        self.store = Store(self.folder, settings.language)

    def _open(self, folder: Path) -> _Part | None:
        """Open a part; None if other settings made it, or it is damaged."""
        try:
            made_by = json.loads((folder / MADE_BY).read_text(encoding='utf-8'))
            if made_by['passages'] != self.made_by:
                return None
            store = Store(folder, self.settings.language)
            documents = store.documents()
        except (OSError, ValueError):
            return None
        rows = None
        if made_by['encoder'] == self.identity:
            with suppress(OSError, ValueError, EOFError):
                rows = np.load(folder / ROWS, mmap_mode='r')
        return _Part(store, documents, rows)

    def build(
        self,
        documents: Documents,
        report_document: Callable[[str], object],
        report_vectors: Callable[[int, int], object],
    ) -> tuple[Manifest, Changes]:
        old, accepted = self.old, dict[str, Document]()
        sources, refused = dict[str, _Part](), list[DocumentError]()
        committed = time.monotonic()
        with ReadingProcess() as process:
            for name, path in documents.files.items():
                try:
                    document, part = self._find(name, path)
                    if part is not None:
                        sources[name] = part
                    else:
                        self._read(document, path, process)
                    accepted[name] = document
                except InputError as e:
                    refused.append(_document_error(name, e))
                report_document(name)
                if time.monotonic() - committed > COMMIT_SECONDS:
                    self.store.commit()
                    committed = time.monotonic()
        _write_left_out(self.index, documents, refused)
        if not accepted:
            shutil.rmtree(self.folder, ignore_errors=True)
            why = f': {refused[0]}' if refused else '.'
            raise InputError(f'None of the documents could be read{why}')
        changes = self._find_changes(accepted, sources, refused)
        content = content_digest(self.settings, accepted.values())
        if old is not None and (old.content, old.encoder) == (content, self.identity):
            _drop_others(self.index, old)
            return old, changes
        self.store.commit()
        for name, part in sources.items():
            self.store.add(accepted[name], part.passages(accepted[name]))
        self.store.finish()
        if self.encoder is not None:
            known = self._known_vectors()
            make_vectors(self.folder, self.store, self.encoder, known, report_vectors)
        manifest = Manifest(
            settings=self.settings,
            folder=self.folder.name,
            content=content,
            passages=self.store.size,
            documents=len(accepted),
            sums=checksums(self.folder),
            encoder=self.identity,
        )
        write_manifest(self.index, manifest)
        _drop_others(self.index, manifest)
        return manifest, changes

    def _find(self, name: str, path: Path) -> tuple[Document, _Part | None]:
        """Find a document's file in a part; otherwise describe it, with None."""
        parts = [part for part in self.parts.values() if name in part.documents]
        try:
            state = path.stat()
            version = state.st_size, state.st_mtime_ns
            for part in parts:
                document = part.documents[name]
                if (document.size, document.changed) == version:
                    return document, part
            if state.st_size > LARGEST and path.suffix.lower() not in LINE_BY_LINE:
                raise DocumentError(
                    name,
                    f'it has {state.st_size:,} bytes; at most {LARGEST:,} are read',
                )
            sha256 = file_sha256(path)
        except OSError as e:
            raise DocumentError(name, f'it cannot be read: {e.strerror}') from e
        for part in parts:
            if part.documents[name].sha256 == sha256:
                return part.documents[name], part
        return Document(name, sha256, *version), None

    def _read(self, document: Document, path: Path, process: ReadingProcess) -> None:
        """Add a document, after all of it was read unless it is huge."""
        settings = self.settings
        passages: Iterable[Passage] = split(
            document.name,
            process.read(path),
            settings.words,
            settings.overlap,
            settings.sentences,
        )
        if path.suffix.lower() not in LINE_BY_LINE:
            passages = list(passages)
        if not self.store.add(document, passages):
            raise DocumentError(document.name, 'it has no text')

    def _find_changes(
        self,
        accepted: Collection[str],
        sources: Collection[str],
        refused: list[DocumentError],
    ) -> Changes:
        """What differs from the old index."""
        part = self.parts.get(self.old.folder) if self.old is not None else None
        before = part.documents if part is not None else {}
        read = [name for name in accepted if name not in sources]
        return Changes(
            added=[name for name in read if name not in before],
            changed=[name for name in read if name in before],
            removed=[name for name in before if name not in accepted],
            unchanged=len(sources),
            refused=refused,
        )

    def _known_vectors(self) -> Iterator[tuple[int, np.ndarray]]:
        """The vectors in the parts, with the new numbers of their first passages."""
        stored = self.store.documents()
        for part in self.parts.values():
            if part.rows is None:
                continue
            for old in part.documents.values():
                new = stored.get(old.name)
                if new is not None and new.sha256 == old.sha256:
                    yield new.first, part.rows[old.first : old.first + old.count]


def _number(path: Path) -> int:
    number = path.name.removeprefix(PART)
    return int(number) if number.isdigit() else 0


def _drop_others(index: Path, manifest: Manifest) -> None:
    """Delete parts that the manifest does not name."""
    for path in index.glob(f'{PART}*'):
        if path.name != manifest.folder:
            shutil.rmtree(path, ignore_errors=True)
