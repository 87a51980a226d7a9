"""
Finds the documents under the paths that a person gives.

Symbolic links inside a folder lead nowhere outside of it: a link whose target is
elsewhere is left out. What is hidden (``.git``) is left out, too.
"""

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from parlai_q2.errors import InputError
from parlai_q2.retrieve.readers import ENDINGS


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
