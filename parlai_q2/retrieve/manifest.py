"""
The manifest of an index: its files with their checksums, and its settings.

``index.json`` is written last, and whole: what it lists is finished, and anything else
in the folder is left of a run that was stopped.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from parlai_q2.errors import ConfigError, InputError, UnknownNameError
from parlai_q2.io.files import file_sha256
from parlai_q2.io.write import write_text
from parlai_q2.retrieve.presets import Search
from parlai_q2.retrieve.readers import VERSION
from parlai_q2.retrieve.split import DEFAULT_OVERLAP, DEFAULT_WORDS, Length
from parlai_q2.retrieve.store import Document
from parlai_q2.retrieve.words import DEFAULT_LANGUAGE, LANGUAGES

MANIFEST = 'index.json'
# Raised when older indexes cannot be read any more.
FORMAT = 2
# What is looked at when an index is opened: so many blocks of a file, of so many bytes.
BLOCKS, BLOCK = 64, 32_768
MAKE = 'Make it with: parlai_q2 index DOCUMENTS --outdir {}'


@dataclass(frozen=True)
class Settings:
    """
    What decides the passages of an index, and how they are searched.

    :param words: see :class:`~parlai_q2.retrieve.split.Length`.
    :param overlap: see there.
    :param language: one of :data:`~parlai_q2.retrieve.words.LANGUAGES`.
    :param sentences: the most sentences of a passage; 0 for as many as fit.
    :param search: how passages are found.
    :param readers: the version of the readers.
    """

    words: int = DEFAULT_WORDS
    overlap: int = DEFAULT_OVERLAP
    language: str = DEFAULT_LANGUAGE
    sentences: int = 0
    search: Search = field(default_factory=Search)
    readers: int = VERSION

    @property
    def length(self) -> Length:
        """The length of passages."""
        return Length(self.words, self.overlap, self.sentences)

    def check(self) -> None:
        """
        Refuse what is not valid.

        :raises ConfigError: if it is not.
        """
        if self.language not in LANGUAGES:
            raise UnknownNameError('language', self.language, LANGUAGES)
        _ = self.length
        self.search.check()

    def same_passages(self, other: 'Settings') -> bool:
        """Whether the words' part of an index is the same under both."""
        return replace(self, search=other.search) == other


class Checksum(NamedTuple):
    """
    What a file was when it was written.

    :param size: in bytes.
    :param sha256: of all of it.
    :param sampled: the SHA-256 of :data:`BLOCKS` blocks of it.
    """

    size: int
    sha256: str
    sampled: str


@dataclass(frozen=True)
class Manifest:
    """
    What an index has.

    :param folder: the folder of the words and passages.
    :param content: tells indexes apart that may find different passages.
    :param sums: of each file, by its path in the index.
    :param vectors: the folder of the vectors; None if there are none.
    :param encoder: the identity of the model that made them.
    """

    settings: Settings
    folder: str
    content: str
    passages: int
    documents: int
    sums: dict[str, Checksum]
    vectors: str | None = None
    encoder: str | None = None


def read_manifest(index: Path) -> Manifest | None:
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
        raise InputError(f'Cannot read {path} ({e}). {advise(index)}') from e
    try:
        fields = json.loads(text)
        if not isinstance(fields, Mapping) or fields.get('format') != FORMAT:
            raise InputError(
                f'{path} is no index of this version of parlai_q2. {advise(index)}'
            )
        fields = {name: fields[name] for name in fields if name != 'format'}
        settings = dict(fields['settings'])
        settings['search'] = Search(**settings['search'])
        fields['settings'] = Settings(**settings)
        fields['settings'].check()
        fields['sums'] = {
            k: Checksum(*map(_check_scalar, v)) for k, v in fields['sums'].items()
        }
        return Manifest(**fields)
    except (ValueError, TypeError, KeyError, AttributeError) as e:
        if isinstance(e, (InputError, ConfigError)):
            raise
        raise InputError(f'{path} is damaged ({e}). {advise(index)}') from e


def write_manifest(index: Path, manifest: Manifest) -> None:
    """Write a manifest, whole."""
    text = json.dumps({'format': FORMAT, **asdict(manifest)}, indent=1)
    write_text(index / MANIFEST, text + '\n')


def content_digest(settings: Settings, documents: Iterable[Document]) -> str:
    """A digest: the same for the same documents and settings."""
    named = sorted((document.name, document.sha256) for document in documents)
    text = json.dumps([asdict(settings), named])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _check_scalar(value: Any) -> Any:
    if not isinstance(value, (int, str)):
        raise ValueError(f'{str(value)[:40]!r} is no checksum')
    return value


def checksums(folder: Path, name: str, without: str) -> dict[str, Checksum]:
    """
    The checksums of a folder's files, by their paths in the index.

    :param name: what the folder will be called.
    :param without: the file in it that will not stay.
    """
    return {
        f'{name}/{path.name}': Checksum(
            path.stat().st_size, file_sha256(path), sampled_sha256(path)
        )
        for path in sorted(folder.iterdir())
        if path.name != without and not path.name.endswith('.lock')
    }


def sampled_sha256(path: Path) -> str:
    """The checksum of some blocks of a file: the first, the last, some between."""
    digest, size = hashlib.sha256(), path.stat().st_size
    last = max(0, size - BLOCK)
    with open(path, 'rb') as stream:
        for start in sorted({last * n // (BLOCKS - 1) for n in range(BLOCKS)}):
            stream.seek(start)
            digest.update(stream.read(BLOCK))
    return digest.hexdigest()


def check_files(index: Path, manifest: Manifest, whole: bool = False) -> None:
    """
    Check that an index is as it was written.

    :param whole: whether to read all of it; otherwise each file's size and some blocks
        of it are looked at, all of a file that is no longer than these.
    :raises InputError: if a file is missing or damaged; names it.
    """
    for name, written in manifest.sums.items():
        path = index / name
        try:
            if '..' in Path(name).parts or Path(name).is_absolute():
                raise InputError(f'{index / MANIFEST} is damaged. {advise(index)}')
            is_good = path.stat().st_size == written.size
            if whole:
                is_good = is_good and file_sha256(path) == written.sha256
            else:
                is_good = is_good and sampled_sha256(path) == written.sampled
        except FileNotFoundError:
            raise InputError(f'{path} is missing. {advise(index)}') from None
        except OSError as e:
            raise InputError(f'Cannot read {path}: {e.strerror}.') from e
        if not is_good:
            raise InputError(f'{path} is damaged. {advise(index)}')


def advise(index: Path) -> str:
    """The advice when an index cannot be used."""
    again = f'parlai_q2 index DOCUMENTS --outdir {index}'
    return f'Delete the folder and make it again: {again}'
