"""
The list of an index's files with their checksums, and the settings they were made with.

``index.json`` is written last, and whole: what it lists is finished, and anything else
in the folder is left of a run that was stopped.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Optional

from parlai_q2.errors import ConfigError, InputError, UnknownNameError
from parlai_q2.io.files import file_sha256
from parlai_q2.io.write import write_text
from parlai_q2.retrieve.readers import VERSION
from parlai_q2.retrieve.split import DEFAULT_OVERLAP, DEFAULT_WORDS, Length
from parlai_q2.retrieve.store import Document
from parlai_q2.retrieve.words import DEFAULT_LANGUAGE, LANGUAGES

MANIFEST = 'index.json'
# Raised when older indexes cannot be read any more.
FORMAT = 1
MAKE = 'Make it with: parlai_q2 index DOCUMENTS --outdir {}'


@dataclass(frozen=True)
class Settings:
    """
    What decides the passages of an index, and how they are searched.

    :param words: see :class:`~parlai_q2.retrieve.split.Length`.
    :param overlap: see there.
    :param language: one of :data:`~parlai_q2.retrieve.words.LANGUAGES`.
    :param encoder: the model that makes vectors of passages; None: words alone.
    :param readers: the version of the readers.
    """

    words: int = DEFAULT_WORDS
    overlap: int = DEFAULT_OVERLAP
    language: str = DEFAULT_LANGUAGE
    encoder: Optional[str] = None
    readers: int = VERSION

    @property
    def length(self) -> Length:
        """The length of passages."""
        return Length(self.words, self.overlap)

    def check(self) -> None:
        """
        Refuse what is not valid.

        :raises ConfigError: if it is not.
        """
        if self.language not in LANGUAGES:
            raise UnknownNameError('language', self.language, LANGUAGES)
        _ = self.length

    def same_passages(self, other: 'Settings') -> bool:
        """Whether the words' part of an index is the same under both."""
        mine, others = asdict(self), asdict(other)
        return all(mine[k] == others[k] for k in mine if k != 'encoder')


@dataclass(frozen=True)
class Manifest:
    """
    What an index has.

    :param folder: the folder of the words and passages.
    :param content: tells indexes apart that may find different passages.
    :param vectors: the file of the vectors; None if there are none.
    :param sums: the size and the SHA-256 of each file, by its path in the index.
    :param about: of the vectors: the encoder's signature and size.
    """

    settings: Settings
    folder: str
    content: str
    passages: int
    documents: int
    sums: dict[str, tuple[int, str]]
    vectors: Optional[str] = None
    about: dict[str, Any] = field(default_factory=dict)


def read_manifest(index: Path) -> Optional[Manifest]:
    """
    The manifest of an index; None if there is none.

    :raises InputError: if it is damaged, or of another version.
    """
    path = index / MANIFEST
    try:
        text = path.read_text(encoding='utf-8')
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as e:
        raise InputError(f'Cannot read {path} ({e}). {remade(index)}') from e
    try:
        fields = json.loads(text)
        if not isinstance(fields, Mapping) or fields.get('format') != FORMAT:
            raise InputError(
                f'{path} is no index of this version of parlai_q2. {remade(index)}'
            )
        fields = {name: fields[name] for name in fields if name != 'format'}
        fields['settings'] = Settings(**fields['settings'])
        fields['sums'] = {k: (int(n), str(s)) for k, (n, s) in fields['sums'].items()}
        return Manifest(**fields)
    except (ValueError, TypeError, KeyError, AttributeError) as e:
        if isinstance(e, (InputError, ConfigError)):
            raise
        raise InputError(f'{path} is damaged ({e}). {remade(index)}') from e


def write_manifest(index: Path, manifest: Manifest) -> None:
    """Write a manifest, whole."""
    text = json.dumps({'format': FORMAT, **asdict(manifest)}, indent=1)
    write_text(index / MANIFEST, text + '\n')


def content_of(settings: Settings, documents: Iterable[Document]) -> str:
    """A digest: the same for the same documents and settings."""
    named = sorted((one.name, one.sha256) for one in documents)
    text = json.dumps([asdict(settings), named])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def sums_of(index: Path, *parts: Path) -> dict[str, tuple[int, str]]:
    """The size and the checksum of files and of those in folders."""
    files = [
        f for part in parts for f in ([part] if part.is_file() else part.iterdir())
    ]
    return {
        one.relative_to(index).as_posix(): (one.stat().st_size, file_sha256(one))
        for one in sorted(files)
        if not one.name.endswith('.lock')
    }


def check(index: Path, manifest: Manifest) -> None:
    """
    Check that an index is as it was written.

    :raises InputError: if a file is missing or damaged; names it.
    """
    for name, (size, sha256) in manifest.sums.items():
        path = index / name
        try:
            if '..' in Path(name).parts or Path(name).is_absolute():
                raise InputError(f'{index / MANIFEST} is damaged. {remade(index)}')
            good = path.stat().st_size == size and file_sha256(path) == sha256
        except FileNotFoundError:
            raise InputError(f'{path} is missing. {remade(index)}') from None
        except OSError as e:
            raise InputError(f'Cannot read {path}: {e.strerror}.') from e
        if not good:
            raise InputError(f'{path} is damaged. {remade(index)}')


def remade(index: Path) -> str:
    """The advice when an index cannot be used."""
    again = f'parlai_q2 index DOCUMENTS --outdir {index}'
    return f'Delete the folder and make it again: {again}'
