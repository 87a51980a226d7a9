"""
The vectors of an index's passages on disk, and the search of the nearest.

Vectors are fp16, in the order of the passages' numbers. Up to :data:`EXACT` passages
all of them are compared; more are searched through a graph (HNSW: Malkov and Yashunin
2016, arXiv 1603.09320), which usearch makes and reads.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Optional

import numpy as np

from parlai_q2.errors import InputError
from parlai_q2.packages import import_package
from parlai_q2.retrieve.encoder import TextEncoder
from parlai_q2.retrieve.store import Store, searched

KEYS, ROWS, STATE, GRAPH = 'keys.npy', 'vectors.npy', 'state.json', 'graph.usearch'
# As many are compared with a query in some 30 ms of one core.
EXACT = 200_000
CHUNK = 1024
# The graph's neighbours of a passage, and how many candidates it looks at where it is
# made and where it is searched: of the five nearest of 31,431 passages, 256 find .977
# (128: .970, 800: .982).
NEIGHBOURS, MAKING, SEARCHING = 16, 128, 256


def make_vectors(
    folder: Path,
    store: Store,
    encoder: TextEncoder,
    old: Optional[Path] = None,
    done: Callable[[int, int], Any] = lambda done, all_: None,
) -> None:
    """
    Write the vectors of all passages of a store. What a stopped run wrote is kept.

    :param folder: becomes the vectors' folder, when :data:`STATE` has left it.
    :param old: the folder of earlier vectors of the same encoder, whose passages have
        the same numbers if they are still there.
    :param done: called with how many passages are done, and of how many.
    """
    keys = np.array(store.keys(), np.int64)
    width = encoder.passages(['-']).shape[1]
    made_of = _digest(store, encoder)
    finished, rows = _begun(folder, keys, width, made_of)
    known = Vectors(old) if old is not None else None
    for start in range(finished, len(keys), CHUNK):
        part = keys[start : start + CHUNK]
        rows[start : start + len(part)] = _of(part, store, encoder, known)
        rows.flush()
        finished = start + len(part)
        _write_state(folder, made_of, finished)
        done(finished, len(keys))
    del rows
    if len(keys) > EXACT:
        _make_graph(folder)


def _of(
    keys: np.ndarray, store: Store, encoder: TextEncoder, known: Optional['Vectors']
) -> np.ndarray:
    places = known.places(keys) if known is not None else np.full(len(keys), -1)
    new = np.flatnonzero(places < 0)
    found: Any = None
    if len(new):
        texts = [searched(one) for one in store.passages(keys[new].tolist())]
        found = encoder.passages(texts)
    if known is None:
        return found
    rows = np.array(known.stored[np.maximum(places, 0)])
    if found is not None:
        rows[new] = found
    return rows


def _begun(folder: Path, keys: np.ndarray, width: int, made_of: str) -> tuple[int, Any]:
    """How many vectors are there already, and all of them, to be written."""
    shape = (len(keys), width)
    with suppress(OSError, ValueError, KeyError, TypeError):
        state = json.loads((folder / STATE).read_text(encoding='utf-8'))
        if state['made_of'] == made_of:
            rows = np.lib.format.open_memmap(folder / ROWS, 'r+')
            if rows.shape == shape and rows.dtype == np.float16:
                return int(state['finished']), rows
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    np.save(folder / KEYS, keys)
    rows = np.lib.format.open_memmap(folder / ROWS, 'w+', np.float16, shape)
    _write_state(folder, made_of, 0)
    return 0, rows


def _write_state(folder: Path, made_of: str, count: int) -> None:
    state = {'made_of': made_of, 'finished': count}
    unfinished = folder / f'{STATE}.new'
    unfinished.write_text(json.dumps(state), encoding='utf-8')
    os.replace(unfinished, folder / STATE)


def _digest(store: Store, encoder: TextEncoder) -> str:
    # The numbers of passages would not do: those of a document that left are given to
    # another, if the run between was stopped.
    documents = [(d.sha256, d.first, d.count) for d in store.documents().values()]
    text = json.dumps([encoder.signature, documents])
    return hashlib.sha256(text.encode()).hexdigest()


def _make_graph(folder: Path) -> None:
    graph = _graph_of(np.load(folder / ROWS, mmap_mode='r').shape[1])
    rows = np.load(folder / ROWS, mmap_mode='r')
    for start in range(0, len(rows), CHUNK):
        part = np.array(rows[start : start + CHUNK])
        # One thread: with several, some passages were never found again (2.26).
        graph.add(np.arange(start, start + len(part)), part, threads=1)
    graph.save(str(folder / GRAPH))


def _graph_of(width: int) -> Any:
    # Of vectors of length 1 the inner product is the cosine; DPR's are longer.
    return _usearch().Index(
        ndim=width,
        metric='ip',
        dtype='f16',
        connectivity=NEIGHBOURS,
        expansion_add=MAKING,
        expansion_search=SEARCHING,
    )


def _usearch() -> Any:
    user = f'Searching the vectors of more than {EXACT:,} passages'
    return import_package('usearch.index', 'usearch', 'dense', user)


class Vectors:
    """
    The vectors of passages.

    :param folder: as :func:`make_vectors` wrote it.
    :raises InputError: if it cannot be read.
    """

    def __init__(self, folder: Path):
        try:
            self.keys = np.load(folder / KEYS, allow_pickle=False)
            self.stored = np.load(folder / ROWS, mmap_mode='r', allow_pickle=False)
        except (OSError, ValueError) as e:
            raise InputError(f'The vectors in {folder} cannot be read: {e}') from e
        self._rows: Optional[np.ndarray] = None
        self._graph: Any = None
        if (folder / GRAPH).exists():
            self._graph = _graph_of(self.stored.shape[1])
            self._graph.view(str(folder / GRAPH))

    @classmethod
    def held(cls, rows: np.ndarray) -> 'Vectors':
        """
        Vectors in memory, of passages with the numbers from 0 on.

        :param rows: [N, M], fp32.
        """
        vectors = cls.__new__(cls)
        vectors.keys, vectors.stored = np.arange(len(rows)), rows
        vectors._rows, vectors._graph = rows, None
        return vectors

    def places(self, keys: np.ndarray) -> np.ndarray:
        """The row of each passage; -1 for those that have none."""
        if not len(self.keys):
            return np.full(len(keys), -1)
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[at] == keys, at, -1)

    def products(self, query: np.ndarray, keys: Sequence[int]) -> list[float]:
        """The inner products of a query, [M], with passages that have vectors."""
        if not keys:
            return []
        rows = self.stored[self.places(np.array(keys))]
        return (np.asarray(rows, np.float32) @ query).tolist()

    def nearest(self, queries: np.ndarray, k: int) -> Iterator[list[tuple[int, float]]]:
        """
        The passages nearest to each query, by the inner product.

        :param queries: [B, M].
        :return: for each, passages' numbers with their products, best first.
        """
        k = min(k, len(self.keys))
        for query in queries:
            if self._graph is not None:
                found = self._graph.search(query, k)
                rows, near = found.keys, 1 - found.distances
            else:
                rows, near = self._compared(query, k)
            yield [
                (int(self.keys[row]), float(product))
                for row, product in zip(rows, near, strict=True)
            ]

    def _compared(self, query: np.ndarray, k: int) -> tuple[Sequence[int], Any]:
        if self._rows is None:
            self._rows = np.asarray(self.stored, np.float32)
        near = self._rows @ query
        best = np.argpartition(-near, k - 1)[:k] if k < len(near) else range(len(near))
        # Equal ones by their numbers, so that the order is always the same.
        rows = sorted(map(int, best), key=lambda row: (-near[row], row))
        return rows, near[rows]
