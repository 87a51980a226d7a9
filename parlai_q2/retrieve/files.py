"""
Finds the documents under the paths that a person gives.

Symbolic links inside a folder lead nowhere outside of it: a link whose target is
elsewhere is left out. What is hidden (``.git``) is left out, too.
"""

import glob
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from parlai_q2.errors import InputError
from parlai_q2.retrieve.readers import ENDINGS


@dataclass
class Documents:
    """
    Documents by name, in order, and what was left out.

    :param files: each by the name that passages carry: its path as given.
    :param others: how many files had another ending, by ending.
    :param links: the links that lead out of their folder.
    """

    files: dict[str, Path] = field(default_factory=dict)
    others: Counter[str] = field(default_factory=Counter)
    links: list[str] = field(default_factory=list)


def find_documents(paths: Sequence[str]) -> Documents:
    """
    The documents that paths name: files, folders with all that is in them, and
    patterns (``**/*.md``).

    :raises InputError: if a path does not exist, or there is no document at all.
    """
    found = Documents()
    for given in paths:
        path = Path(given).expanduser()
        if path.is_dir():
            _add_folder(path, found)
            continue
        matches = [path] if path.exists() else []
        if not matches and glob.has_magic(str(path)):
            matches = [Path(one) for one in glob.glob(str(path), recursive=True)]
        if not matches:
            raise InputError(
                f'There is no {given}. Give a file, a folder, or a pattern in quotes '
                'that matches some.'
            )
        for one in sorted(matches):
            if one.is_file():
                _add(one, found)
            elif one.is_dir() and '**' not in given:
                _add_folder(one, found)
    if not found.files:
        raise InputError(
            f'There is no document in {", ".join(map(str, paths))}. These endings are '
            f'read: {", ".join(sorted(ENDINGS))}.'
        )
    return found


def _add_folder(folder: Path, found: Documents) -> None:
    root = os.path.realpath(folder)
    for path in _walk(folder):
        if os.path.commonpath([root, os.path.realpath(path)]) != root:
            found.links.append(str(path))
        else:
            _add(path, found)


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


def _add(path: Path, found: Documents) -> None:
    if not path.is_file():
        return
    ending = path.suffix.lower()
    if ending in ENDINGS:
        name = os.path.normpath(path).replace(os.sep, '/')
        found.files[name.encode('utf-8', 'replace').decode('utf-8')] = path
    else:
        found.others[ending or 'no ending'] += 1
