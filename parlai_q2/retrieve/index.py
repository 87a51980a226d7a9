"""Opens an index of documents, to search it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from parlai_q2.errors import InputError
from parlai_q2.retrieve.bm25 import Bm25
from parlai_q2.retrieve.dense import Dense, Fused
from parlai_q2.retrieve.encoder import load_encoder
from parlai_q2.retrieve.manifest import (
    MAKE,
    Manifest,
    advise,
    check_files,
    read_manifest,
)
from parlai_q2.retrieve.presets import By, Search
from parlai_q2.retrieve.queries import Query, make_query
from parlai_q2.retrieve.retriever import Hit, Retriever
from parlai_q2.retrieve.store import Store
from parlai_q2.retrieve.vectors import Vectors


class Index:
    """
    An index of documents.

    :param folder: as ``parlai_q2 index`` made it.
    :param verify: whether to read all of it for its checksums; otherwise some blocks of
        each file are looked at.
    :param changes: how it is searched otherwise than it was made for: fields of
        :class:`~parlai_q2.retrieve.presets.Search`; None leaves one as it is.
    :raises InputError: if there is none, or it is damaged.
    :raises ConfigError: if it cannot be searched so.
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
        self.how: Search = replace(manifest.settings.search, **changes)
        self.how.check()
        self.store = Store(self.folder / manifest.folder, manifest.settings.language)
        self._retriever: Retriever = self._open()

    def __len__(self) -> int:
        return self.manifest.passages

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """As :meth:`~parlai_q2.retrieve.retriever.Retriever.search`."""
        return self._retriever.search(queries, k)

    def query(self, history: Sequence[str]) -> str:
        """What is searched for, of the turns before a reply, oldest first."""
        return make_query(history, self.how.query)

    @property
    def signature(self) -> str:
        """What decides what a search finds, for the signatures of scores."""
        by = 'bm25' if self.how.by == By.WORDS else self.how.by
        parts = [by, f'index:{self.manifest.content}']
        if self.how.by != By.WORDS:
            parts.append(f'encoder:{self.manifest.encoder}')
        return ','.join(parts)

    def _open(self) -> Retriever:
        words, how = Bm25(self.store), self.how
        if how.by == By.WORDS:
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
        if encoder.identity != self.manifest.encoder:
            raise InputError(
                f'{self.folder} was made with {self.manifest.encoder}, and {name} is '
                f'now {encoder.identity}. Bring it up to date: parlai_q2 index '
                f'DOCUMENTS --outdir {self.folder}'
            )
        if how.query_encoder:
            encoder = load_encoder(how.query_encoder)
        dense = Dense(self.store, vectors, encoder, how.query == Query.TURNS)
        return Fused(words, dense) if how.by == By.FUSED else dense
