"""
The vectors of an index's passages on disk, and the search of the nearest.

Vectors are fp16, in the order of the passages' numbers. Up to :data:`EXACT` passages
all of them are compared; more are searched through a graph (HNSW: Malkov and Yashunin
2016, arXiv 1603.09320), which usearch makes and reads.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from parlai_q2.errors import InputError
from parlai_q2.packages import import_package
from parlai_q2.retrieve.encoder import TextEncoder
from parlai_q2.retrieve.store import Store, searched_text

if TYPE_CHECKING:
    from usearch.index import Index

ROWS, GRAPH = 'vectors.npy', 'graph.usearch'
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

    :param rows: the vector of each passage, [N, M], in memory or mapped from a file.
    :param graph: usearch's index of the rows, if there is one.
    """

    def __init__(self, rows: np.ndarray, graph: 'Index | None' = None):
        self.rows, self._graph = rows, graph
        self._in_memory: np.ndarray | None = None

    @classmethod
    def open(cls, folder: Path) -> 'Vectors':
        """
        Open what :func:`make_vectors` wrote.

        :raises InputError: if it cannot be read.
        """
        try:
            rows = np.load(folder / ROWS, mmap_mode='r', allow_pickle=False)
        except (OSError, ValueError) as e:
            raise InputError(f'The vectors in {folder} cannot be read: {e}') from e
        graph = None
        if (folder / GRAPH).exists():
            graph = _new_graph(rows.shape[1])
            graph.view(str(folder / GRAPH))
        return cls(rows, graph)

    def products(self, query: np.ndarray, keys: Sequence[int]) -> list[float]:
        """The inner products of a query, [M], with passages."""
        rows = np.asarray(self.rows[list(keys)], np.float32)
        products: list[float] = (rows @ query).tolist()
        return products

    def nearest(self, query: np.ndarray, k: int) -> list[tuple[int, float]]:
        """
        Find the passages nearest to a query, by the inner product.

        :param query: [M].
        :return: passages' numbers with their products, best first.
        """
        k = min(k, len(self.rows))
        if self._graph is not None:
            matches = self._graph.search(query, k)
            keys: Sequence[int] | np.ndarray = matches.keys
            products = 1 - matches.distances
        else:
            keys, products = self._compare_all(query, k)
        return list(zip(map(int, keys), map(float, products), strict=True))

    def _compare_all(self, query: np.ndarray, k: int) -> tuple[list[int], np.ndarray]:
        if self._in_memory is None:
            self._in_memory = np.asarray(self.rows, np.float32)
        near = self._in_memory @ query
        best = np.argpartition(-near, k - 1)[:k] if k < len(near) else range(len(near))
        # Equal ones are sorted by number, so that the order is always the same.
        rows = sorted(map(int, best), key=lambda row: (-near[row], row))
        return rows, near[rows]


def make_vectors(
    folder: Path,
    store: Store,
    encoder: TextEncoder,
    known: Iterable[tuple[int, np.ndarray]] = (),
    report: Callable[[int, int], object] = lambda count, total: None,
) -> None:
    """
    Write the vectors of all passages of a store.

    :param known: vectors of this encoder, [n, M], each with the number of the first of
        n passages. Rows of zeros are missing.
    :param report: called with the number of passages done, and of all.
    """
    shape = (store.size, encoder.passages(['-']).shape[1])
    # A new file has zeros, which stand for the vectors that a stopped run did not make.
    rows = np.lib.format.open_memmap(folder / ROWS, 'w+', np.float16, shape)
    for first, vectors in known:
        made = vectors.any(axis=1, keepdims=True)
        np.copyto(rows[first : first + len(vectors)], vectors, where=made)
    missing = np.flatnonzero(~rows.any(axis=1))
    for start in range(0, len(missing), CHUNK):
        part = missing[start : start + CHUNK]
        passages = store.passages(part.tolist())
        rows[part] = encoder.passages([searched_text(p) for p in passages])
        rows.flush()
        report(len(rows) - len(missing) + start + len(part), len(rows))
    if len(rows) > EXACT:
        _make_graph(folder, rows)


def _make_graph(folder: Path, rows: np.ndarray) -> None:
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
