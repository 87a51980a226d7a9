"""
The vectors of an index's passages on disk, and the search of the nearest.

Vectors are fp16, in the order of the passages' numbers. Up to :data:`EXACT` passages
all of them are compared; more are searched through a graph (HNSW: Malkov and Yashunin
2016, arXiv 1603.09320), which usearch makes and reads.
"""

import hashlib
import json
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from parlai_q2.errors import InputError
from parlai_q2.io.write import write_text
from parlai_q2.packages import import_package
from parlai_q2.retrieve.encoder import TextEncoder
from parlai_q2.retrieve.store import Store, searched_text

if TYPE_CHECKING:
    from usearch.index import Index

KEYS, ROWS, STATE, GRAPH = 'keys.npy', 'vectors.npy', 'state.json', 'graph.usearch'
# One core compares this many with a query in about 30 ms.
EXACT = 200_000
CHUNK = 1024
# The number of a passage's neighbours in the graph, and of candidates to look at when
# the graph is made and searched: of the five nearest of 31,431 passages, 256 find 0.977
# (128: 0.970, 800: 0.982).
NEIGHBOURS, EXPANSION_ADD, EXPANSION_SEARCH = 16, 128, 256


class Vectors:
    """
    The vectors of passages.

    :param keys: the passages' numbers, [N], in order.
    :param rows: their vectors, [N, M], in memory or mapped from a file.
    :param graph: usearch's index of the rows, if there is one.
    """

    def __init__(
        self, keys: np.ndarray, rows: np.ndarray, graph: 'Index | None' = None
    ):
        self.keys, self.stored, self._graph = keys, rows, graph
        self._rows: np.ndarray | None = None

    @classmethod
    def open(cls, folder: Path) -> 'Vectors':
        """
        Open what :func:`make_vectors` wrote.

        :raises InputError: if it cannot be read.
        """
        try:
            keys = np.load(folder / KEYS, allow_pickle=False)
            rows = np.load(folder / ROWS, mmap_mode='r', allow_pickle=False)
        except (OSError, ValueError) as e:
            raise InputError(f'The vectors in {folder} cannot be read: {e}') from e
        graph = None
        if (folder / GRAPH).exists():
            graph = _new_graph(rows.shape[1])
            graph.view(str(folder / GRAPH))
        return cls(keys, rows, graph)

    def find_rows(self, keys: np.ndarray) -> np.ndarray:
        """The row of each passage; -1 for passages without one."""
        if not len(self.keys):
            return np.full(len(keys), -1)
        rows = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[rows] == keys, rows, -1)

    def products(self, query: np.ndarray, keys: Sequence[int]) -> list[float]:
        """The inner products of a query, [M], with passages that have vectors."""
        if not keys:
            return []
        rows = self.stored[self.find_rows(np.array(keys))]
        products: list[float] = (np.asarray(rows, np.float32) @ query).tolist()
        return products

    def nearest(self, query: np.ndarray, k: int) -> list[tuple[int, float]]:
        """
        Find the passages nearest to a query, by the inner product.

        :param query: [M].
        :return: passages' numbers with their products, best first.
        """
        k = min(k, len(self.keys))
        if self._graph is not None:
            matches = self._graph.search(query, k)
            rows: Sequence[int] | np.ndarray = matches.keys
            products = 1 - matches.distances
        else:
            rows, products = self._compare_all(query, k)
        keys = (int(self.keys[row]) for row in rows)
        return list(zip(keys, map(float, products), strict=True))

    def _compare_all(self, query: np.ndarray, k: int) -> tuple[list[int], np.ndarray]:
        if self._rows is None:
            self._rows = np.asarray(self.stored, np.float32)
        near = self._rows @ query
        best = np.argpartition(-near, k - 1)[:k] if k < len(near) else range(len(near))
        # Equal ones are sorted by number, so that the order is always the same.
        rows = sorted(map(int, best), key=lambda row: (-near[row], row))
        return rows, near[rows]


def make_vectors(
    folder: Path,
    store: Store,
    encoder: TextEncoder,
    old: Path | None = None,
    report: Callable[[int, int], object] = lambda count, total: None,
) -> None:
    """
    Write the vectors of all passages of a store. Vectors from a stopped run are kept.

    :param folder: becomes the vectors' folder once :data:`STATE` is removed from it.
    :param old: the folder of earlier vectors of the same encoder, whose passages have
        the same numbers if they are still there.
    :param report: called with the number of passages done, and of all.
    """
    keys = np.array(store.keys(), np.int64)
    digest = _digest(store, encoder)
    width = encoder.passages(['-']).shape[1]
    finished, rows = _begin(folder, keys, width, digest)
    nothing = Vectors(keys[:0], rows[:0])
    old_vectors = Vectors.open(old) if old is not None else nothing
    for start in range(finished, len(keys), CHUNK):
        part = keys[start : start + CHUNK]
        _fill(rows[start : start + len(part)], part, store, encoder, old_vectors)
        rows.flush()
        finished = start + len(part)
        _write_state(folder, digest, finished)
        report(finished, len(keys))
    del rows
    if len(keys) > EXACT:
        _make_graph(folder)


def _fill(
    rows: np.ndarray, keys: np.ndarray, store: Store, encoder: TextEncoder, old: Vectors
) -> None:
    """Write the vectors of some passages; existing vectors are kept."""
    places = old.find_rows(keys)
    is_new = places < 0
    rows[~is_new] = old.stored[places[~is_new]]
    if is_new.any():
        passages = store.passages(keys[is_new].tolist())
        rows[is_new] = encoder.passages([searched_text(p) for p in passages])


def _begin(
    folder: Path, keys: np.ndarray, width: int, digest: str
) -> tuple[int, np.memmap]:
    """Return the number of existing vectors, and the array to write all to."""
    shape = (len(keys), width)
    with suppress(OSError, ValueError, KeyError, TypeError):
        state = json.loads((folder / STATE).read_text(encoding='utf-8'))
        if state['made_of'] == digest:
            rows = np.lib.format.open_memmap(folder / ROWS, 'r+')
            if rows.shape == shape and rows.dtype == np.float16:
                return int(state['finished']), rows
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    np.save(folder / KEYS, keys)
    rows = np.lib.format.open_memmap(folder / ROWS, 'w+', np.float16, shape)
    _write_state(folder, digest, 0)
    return 0, rows


def _write_state(folder: Path, digest: str, count: int) -> None:
    write_text(folder / STATE, json.dumps({'made_of': digest, 'finished': count}))


def _digest(store: Store, encoder: TextEncoder) -> str:
    # The numbers of passages do not identify them: those of a removed document may be
    # given to another, if the run between was stopped.
    documents = [(d.sha256, d.first, d.count) for d in store.documents().values()]
    text = json.dumps([encoder.signature, documents])
    return hashlib.sha256(text.encode()).hexdigest()


def _make_graph(folder: Path) -> None:
    rows = np.load(folder / ROWS, mmap_mode='r')
    graph = _new_graph(rows.shape[1])
    for start in range(0, len(rows), CHUNK):
        part = np.array(rows[start : start + CHUNK])
        # One thread: with several, usearch 2.26 never found some passages again.
        graph.add(np.arange(start, start + len(part)), part, threads=1)
    graph.save(str(folder / GRAPH))


def _new_graph(width: int) -> 'Index':
    user = f'Searching the vectors of more than {EXACT:,} passages'
    library = import_package('usearch.index', 'usearch', 'dense', user)
    # For vectors of length 1, the inner product is the cosine; DPR's are longer.
    graph: Index = library.Index(
        ndim=width,
        metric='ip',
        dtype='f16',
        connectivity=NEIGHBOURS,
        expansion_add=EXPANSION_ADD,
        expansion_search=EXPANSION_SEARCH,
    )
    return graph
