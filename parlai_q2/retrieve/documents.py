"""
Finds the documents under the paths that a person gives, and brings the passages of an
index up to date: reads new and changed documents, and drops deleted ones.

Symbolic links inside a folder lead nowhere outside of it: a link whose target is
elsewhere is left out. What is hidden (``.git``) is left out, too.
"""

import glob
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from parlai_q2.errors import DocumentError, InputError
from parlai_q2.io.files import file_sha256
from parlai_q2.io.write import write_text
from parlai_q2.retrieve.index import Settings
from parlai_q2.retrieve.readers import CONVERTED, DIRECT, ENDINGS, ReadingProcess
from parlai_q2.retrieve.split import split
from parlai_q2.retrieve.store import Document, Store
from parlai_q2.turns import Passage

# Seconds between commits: so much work is lost when a run is stopped.
COMMIT_SECONDS = 30.0
# Larger documents are refused, except those that are read line by line.
LARGEST = 200_000_000
LINE_BY_LINE = ('.csv', '.tsv', '.jsonl', '.ndjson')
# In the index's folder: each file that is not in the index, with the reason.
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
        """Add a file under its name, or to those that are left out."""
        if not path.is_file():
            return
        if path.suffix.lower() in ENDINGS:
            name = os.path.normpath(path).replace(os.sep, '/')
            self.files[name.encode('utf-8', 'replace').decode('utf-8')] = path
        else:
            self.of_other_kinds.append(path)

    def add_folder(self, folder: Path) -> None:
        """Add what is in a folder and the folders in it."""
        root = os.path.realpath(folder)
        for path in _walk(folder):
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
            # A pattern with ** matches what is in the folders, too.
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


def _walk(folder: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith('.'))
        for name in sorted(files):
            path = Path(parent, name)
            if not name.startswith('.') and (path.is_file() or path.is_symlink()):
                yield path
        for name in folders:
            # os.walk does not follow these, and nor do we.
            if (path := Path(parent, name)).is_symlink():
                yield path


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


@dataclass
class Updater:
    """
    Brings a store up to date.

    :param next_key: the number of the next passage.
    :param report: called with each document's name when it is done.
    """

    store: Store
    settings: Settings
    next_key: int
    report: Callable[[str], Any] = lambda name: None

    def run(self, documents: Documents) -> Changes:
        """Add, change and remove what has to be."""
        stored, changes = self.store.documents(), Changes()
        for name in stored.keys() - documents.files.keys():
            self.store.remove(name)
            changes.removed.append(name)
        committed = time.monotonic()
        with ReadingProcess() as process:
            for name, path in documents.files.items():
                try:
                    self._update(name, path, stored.get(name), process, changes)
                except InputError as e:
                    changes.refused.append(_document_error(name, e))
                    if name in stored:
                        self.store.remove(name)
                        changes.removed.append(name)
                self.report(name)
                if time.monotonic() - committed > COMMIT_SECONDS:
                    self.store.commit()
                    committed = time.monotonic()
        return changes

    def _update(
        self,
        name: str,
        path: Path,
        stored: Document | None,
        process: ReadingProcess,
        changes: Changes,
    ) -> None:
        document = _examine(name, path, stored, self.next_key)
        if document is None:
            changes.unchanged += 1
            return
        ending = path.suffix.lower()
        read = process.read if ending in CONVERTED else DIRECT[ending]
        settings = self.settings
        passages: Iterator[Passage] = split(
            name, read(path), settings.words, settings.overlap, settings.sentences
        )
        # Read as a whole before anything is changed, unless it may be huge.
        if ending not in LINE_BY_LINE:
            passages = iter(list(passages))
        if stored is not None:
            self.store.remove(name)
        count = self.store.add(document, passages)
        if not count:
            raise DocumentError(name, 'it has no text')
        self.next_key += count
        (changes.added if stored is None else changes.changed).append(name)


def _examine(
    name: str, path: Path, stored: Document | None, first: int
) -> Document | None:
    """The document as it is now; None if it has not changed."""
    try:
        state = path.stat()
        if stored and (stored.size, stored.changed) == (
            state.st_size,
            state.st_mtime_ns,
        ):
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
    return Document(
        name,
        sha256,
        size=state.st_size,
        changed=state.st_mtime_ns,
        first=first,
        count=0,
    )


def _document_error(name: str, error: InputError) -> DocumentError:
    if isinstance(error, DocumentError):
        return error
    problem = str(error).rstrip('.')
    if problem.startswith(f'{name} '):
        problem = f'it{problem.removeprefix(name)}'
    return DocumentError(name, problem)


def write_left_out(folder: Path, documents: Documents, changes: Changes) -> None:
    """
    Write the list :data:`LEFT_OUT` of all files that are not in the index, as JSON
    lines with ``file`` and ``reason``; remove it if there are none.
    """
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
