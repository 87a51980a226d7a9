"""
An index of documents: its manifest, opening and searching it; also the search of one
document in memory, for ``--knowledge-file``.

``index.json`` is written last and atomically: the files it lists are complete, and all
others in the folder were left by stopped runs.
"""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from parlai_q2.errors import ConfigError, InputError, UnknownNameError
from parlai_q2.io.files import file_sha256
from parlai_q2.io.write import write_text
from parlai_q2.retrieve.encoder import load_encoder
from parlai_q2.retrieve.ranking import Bm25, Dense, Fused
from parlai_q2.retrieve.readers import VERSION, ReadingProcess, check_packages
from parlai_q2.retrieve.retriever import Hit, Retriever
from parlai_q2.retrieve.search import (
    MINI,
    SHIPPED_ENCODER,
    QueryFrom,
    SearchBy,
    SearchSettings,
    make_query,
)
from parlai_q2.retrieve.split import DEFAULT_OVERLAP, DEFAULT_WORDS, split
from parlai_q2.retrieve.store import Document, Store, searched_text
from parlai_q2.retrieve.vectors import Vectors
from parlai_q2.retrieve.words import DEFAULT_LANGUAGE, LANGUAGES
from parlai_q2.turns import Passage, without_surrogates

MANIFEST = 'index.json'
# Beside it: the files that are not in the index, with reasons, as JSON lines; what a
# run builds; and the file whose lock a run holds.
LEFT_OUT = 'left_out.jsonl'
BUILDING, BUILDING_VECTORS, LOCKED = 'building', 'vectors-building', 'index'
_NUMBERED = re.compile(r'(?:words|vectors)-(\d+)')
# What a run that was killed leaves of a file, and the files in those folders.
_UNFINISHED = r'\.[\w.]+\.\d+\.part'
_FILE = re.compile(
    r'[0-9a-f]{32}\.[\w.]+|(?:meta|\.managed|settings|state)\.json|\.tantivy-.*\.lock'
    rf'|\.tmp\w+|(?:keys|vectors)\.npy|graph\.usearch|{_UNFINISHED}'
)
# Increased when older indexes can no longer be read.
FORMAT = 2
# The blocks of a file that are checked when an index is opened, and their bytes.
BLOCKS, BLOCK = 64, 32_768
MAKE = 'Make it with: parlai_q2 index DOCUMENTS --outdir {}'


@dataclass(frozen=True)
class IndexSettings:
    """
    The settings that decide the passages of an index, and their search.

    :param words: the most words of a passage, from 10 on; ``overlap`` and ``sentences``
        as for :func:`~parlai_q2.retrieve.split.split`.
    :param language: one of :data:`~parlai_q2.retrieve.words.LANGUAGES`.
    :param search: how passages are found.
    :param readers: the version of the readers.
    :raises ConfigError: if one is not valid.
    """

    words: int = DEFAULT_WORDS
    overlap: int = DEFAULT_OVERLAP
    language: str = DEFAULT_LANGUAGE
    sentences: int = 0
    search: SearchSettings = field(default_factory=SearchSettings)
    readers: int = VERSION

    def __post_init__(self) -> None:
        if self.language not in LANGUAGES:
            raise UnknownNameError('language', self.language, LANGUAGES)
        if self.words < 10 or not 0 <= self.overlap <= self.words / 2:
            raise ConfigError(
                f'Passages of {self.words} words cannot overlap by {self.overlap}. '
                'Give at least 10 words, and an overlap of at most half as many.'
            )

    def same_passages(self, other: 'IndexSettings') -> bool:
        """Whether both settings give an index the same passages and words."""
        return replace(self, search=other.search) == other


class Checksum(NamedTuple):
    """
    The state of a file when it was written.

    :param size: in bytes.
    :param sha256: of the whole file.
    :param sampled: the SHA-256 of :data:`BLOCKS` blocks of it.
    """

    size: int
    sha256: str
    sampled: str


@dataclass(frozen=True)
class Manifest:
    """
    The content of an index.

    :param folder: the folder of the words and passages.
    :param content: a digest, which differs for indexes that may find other passages.
    :param sums: the checksum of each file, by its path in the index.
    :param vectors: the folder of the vectors; None if there are none.
    :param encoder: the identity of the model that made them.
    """

    settings: IndexSettings
    folder: str
    content: str
    passages: int
    documents: int
    sums: dict[str, Checksum]
    vectors: str | None = None
    encoder: str | None = None


def read_manifest(index: Path) -> Manifest | None:
    """
    Read the manifest of an index; None if there is none.

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
        if isinstance(fields, dict) and 'format' not in fields:
            raise InputError(f'{path} belongs to no index. Choose another folder.')
        if not isinstance(fields, dict) or fields['format'] != FORMAT:
            raise InputError(
                f'{path} is not an index of this version of parlai_q2. {advise(index)}'
            )
        del fields['format']
        search = SearchSettings(**fields['settings'].pop('search'))
        fields['settings'] = IndexSettings(**fields['settings'], search=search)
        fields['sums'] = {k: Checksum(*v) for k, v in fields['sums'].items()}
        return Manifest(**fields)
    except (InputError, ConfigError):
        raise
    except (ValueError, TypeError, KeyError, AttributeError) as e:
        raise InputError(f'{path} is damaged ({e}). {advise(index)}') from e


def write_manifest(index: Path, manifest: Manifest) -> None:
    """Write a manifest atomically."""
    text = json.dumps({'format': FORMAT, **asdict(manifest)}, indent=1)
    write_text(index / MANIFEST, text + '\n')


def content_digest(settings: IndexSettings, documents: Iterable[Document]) -> str:
    """Compute a digest that is the same for the same documents and settings."""
    named = sorted((document.name, document.sha256) for document in documents)
    text = json.dumps([asdict(settings), named])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def checksums(folder: Path, name: str, without: str) -> dict[str, Checksum]:
    """
    The checksums of a folder's files, by their paths in the index.

    :param name: the folder's final name.
    :param without: a file in it that will be removed.
    """
    return {
        f'{name}/{path.name}': Checksum(
            path.stat().st_size, file_sha256(path), sampled_sha256(path)
        )
        for path in sorted(folder.iterdir())
        if path.name != without and not path.name.endswith('.lock')
    }


def sampled_sha256(path: Path) -> str:
    """The checksum of some blocks of a file: the first, the last and some between."""
    digest, size = hashlib.sha256(), path.stat().st_size
    last = max(0, size - BLOCK)
    with open(path, 'rb') as stream:
        for start in sorted({last * n // (BLOCKS - 1) for n in range(BLOCKS)}):
            stream.seek(start)
            digest.update(stream.read(BLOCK))
    return digest.hexdigest()


def check_files(index: Path, manifest: Manifest, whole: bool = False) -> None:
    """
    Check that an index has not changed since it was written.

    :param whole: whether to read all of it; otherwise only each file's size and
        :data:`BLOCKS` blocks are checked.
    :raises InputError: if a file is missing or damaged; names it.
    """
    for name, written in manifest.sums.items():
        path = index / name
        if '..' in Path(name).parts or Path(name).is_absolute():
            raise InputError(f'{index / MANIFEST} is damaged. {advise(index)}')
        try:
            digest = file_sha256(path) if whole else sampled_sha256(path)
            expected = written.sha256 if whole else written.sampled
            is_good = (path.stat().st_size, digest) == (written.size, expected)
        except FileNotFoundError:
            raise InputError(f'{path} is missing. {advise(index)}') from None
        except OSError as e:
            raise InputError(f'Cannot read {path}: {e.strerror}.') from e
        if not is_good:
            raise InputError(f'{path} is damaged. {advise(index)}')


def check_folder(index: Path) -> None:
    """Raise an InputError if a folder holds other things than an index."""
    if index.exists() and not index.is_dir():
        raise InputError(f'{index} is not a folder. Choose another --outdir.')
    # Beside an index, other things may stand, but not where a run builds.
    built = (BUILDING, BUILDING_VECTORS) if (index / MANIFEST).is_file() else None
    others = sorted(
        path.name
        for path in (index.iterdir() if index.is_dir() else ())
        if (built is None or path.name in built) and not _is_own(path)
    )
    if others:
        raise InputError(
            f'{index} has other files, such as {others[0]}. Choose another --outdir.'
        )


def _is_own(path: Path) -> bool:
    """Whether runs wrote a file or folder in an index's folder, by all names in it."""
    name = path.name
    if name in (BUILDING, BUILDING_VECTORS) or _NUMBERED.fullmatch(name):
        is_folder = path.is_dir() and not path.is_symlink()
        return is_folder and all(map(_FILE.fullmatch, os.listdir(path)))
    files = (LEFT_OUT, MANIFEST, f'{LOCKED}.lock')
    is_named = name in files or re.fullmatch(_UNFINISHED, name) is not None
    return is_named and path.is_file()


def next_number(index: Path) -> int:
    """The number of the next folders of an index."""
    numbers = (int(m[1]) for m in map(_NUMBERED.fullmatch, os.listdir(index)) if m)
    return 1 + max(numbers, default=0)


def drop_others(index: Path, manifest: Manifest) -> None:
    """Delete folders that the manifest no longer names, or that stopped runs left."""
    kept = (manifest.folder, manifest.vectors)
    for path in [*index.iterdir()]:
        is_rest = _NUMBERED.fullmatch(path.name) or path.name == BUILDING_VECTORS
        if is_rest and path.name not in kept and _is_own(path):
            shutil.rmtree(path, ignore_errors=True)


def advise(index: Path) -> str:
    """The advice when an index cannot be used."""
    again = f'parlai_q2 index DOCUMENTS --outdir {index}'
    return f'Delete the folder and make it again: {again}'


class Index:
    """
    An index of documents.

    :param folder: the folder that ``parlai_q2 index`` wrote.
    :param verify: whether to check all of it by its checksums; otherwise some blocks of
        each file are checked.
    :param changes: changes of how it is searched: fields of
        :class:`~parlai_q2.retrieve.search.SearchSettings`; None keeps one.
    :raises InputError: if there is none, or it is damaged.
    :raises ConfigError: if it cannot be searched with these changes.
    """

    def __init__(self, folder: str | Path, verify: bool = False, **changes: Any):
        self.folder = Path(folder).expanduser()
        manifest = read_manifest(self.folder)
        if manifest is None:
            raise InputError(
                f'There is no index in {self.folder}. {MAKE.format(self.folder)}'
            )
        check_files(self.folder, manifest, verify)
        self.manifest: Manifest = manifest
        changes = {name: x for name, x in changes.items() if x is not None}
        if changes.get('encoder') == MINI:
            changes['encoder'] = SHIPPED_ENCODER
        self.how: SearchSettings = replace(manifest.settings.search, **changes)
        self.store = Store(self.folder / manifest.folder, manifest.settings.language)
        self._retriever: Retriever = self._open()

    def __len__(self) -> int:
        return self.manifest.passages

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """As :meth:`~parlai_q2.retrieve.retriever.Retriever.search`."""
        return self._retriever.search(list(map(without_surrogates, queries)), k)

    def query(self, history: Sequence[str]) -> str:
        """Make the query from the turns before a reply, oldest first."""
        return make_query(history, self.how.query)

    @property
    def signature(self) -> str:
        """All settings that decide what a search finds, for signatures."""
        by = 'bm25' if self.how.by == SearchBy.WORDS else self.how.by
        parts = [by, f'index:{self.manifest.content}']
        if self.how.by != SearchBy.WORDS:
            parts.append(f'encoder:{self.manifest.encoder}')
            if self.how.query_encoder:
                parts.append(f'query_encoder:{self.how.query_encoder}')
            if self.how.query == QueryFrom.TURNS:
                # Each turn has a vector of its own.
                parts.append(f'query:{self.how.query}')
        return ','.join(parts)

    def _open(self) -> Retriever:
        words, how = Bm25(self.store), self.how
        if how.by == SearchBy.WORDS:
            return words
        name = self.manifest.settings.search.encoder
        if self.manifest.vectors is None or name is None or how.encoder != name:
            raise InputError(
                f'{self.folder} has no vectors of {how.encoder}. Make it with '
                f'--encoder {how.encoder}.'
            )
        vectors = Vectors.open(self.folder / self.manifest.vectors)
        if len(vectors.keys) != len(self) or len(vectors.stored) != len(self):
            raise InputError(f'{self.folder} is damaged. {advise(self.folder)}')
        encoder = load_encoder(name)
        if encoder.identity() != self.manifest.encoder:
            raise InputError(
                f'{self.folder} was made with {self.manifest.encoder}, and {name} is '
                f'now {encoder.identity()}. Bring it up to date: parlai_q2 index '
                f'DOCUMENTS --outdir {self.folder}'
            )
        if how.query_encoder:
            encoder = load_encoder(how.query_encoder)
        dense = Dense(self.store, vectors, encoder, how.query == QueryFrom.TURNS)
        return Fused(words, dense) if how.by == SearchBy.FUSED else dense


def read_passages(path: Path) -> tuple[Passage, ...]:
    """
    Read the passages of a document, as an index would have them. A file of an unknown
    kind is read as text.

    :raises InputError: if it cannot be read.
    """
    check_packages(path.suffix.lower())
    with ReadingProcess() as process:
        return tuple(split(path.name, process.read(path)))


def in_memory(
    passages: Sequence[Passage], encoder: str = SHIPPED_ENCODER
) -> tuple[Retriever, Retriever]:
    """
    Make retrievers of passages that are held in memory: by their words, and by their
    words and their vectors.

    :param encoder: gives the vectors.
    """
    store = Store()
    store.add(Document(''), passages)
    store.finish()
    loaded, words = load_encoder(encoder), Bm25(store)
    rows = loaded.passages([searched_text(passage) for passage in passages])
    vectors = Vectors(np.arange(len(rows)), rows)
    return words, Fused(words, Dense(store, vectors, loaded))
