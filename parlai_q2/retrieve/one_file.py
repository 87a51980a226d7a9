"""
Searches one document, such as a FAQ, without an index on disk: what
``--knowledge-file`` does with a file of several passages.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from parlai_q2.retrieve.bm25 import Bm25
from parlai_q2.retrieve.dense import Dense, Fused
from parlai_q2.retrieve.encoder import load_encoder
from parlai_q2.retrieve.presets import SHIPPED_ENCODER
from parlai_q2.retrieve.readers import CONVERTED, DIRECT, check_packages
from parlai_q2.retrieve.readers.child import ReadingProcess
from parlai_q2.retrieve.readers.plain import read_text
from parlai_q2.retrieve.retriever import Retriever
from parlai_q2.retrieve.split import Length, split
from parlai_q2.retrieve.store import Document, Store, searched_text
from parlai_q2.retrieve.vectors import Vectors
from parlai_q2.turns import Passage


def read_passages(path: Path) -> tuple[Passage, ...]:
    """
    Read the passages of a document, as an index would have them. A file of a kind that
    is not known is read as text.

    :raises InputError: if it cannot be read.
    """
    ending = path.suffix.lower()
    if ending not in CONVERTED:
        read = DIRECT.get(ending, read_text)
        return tuple(split(path.name, read(path), Length()))
    check_packages(ending)
    with ReadingProcess() as process:
        return tuple(split(path.name, process.read(path), Length()))


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
