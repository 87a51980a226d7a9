"""
Searches one text file, such as a FAQ, without an index on disk: what
``--knowledge-file`` does with a file of several passages.
"""

from collections.abc import Sequence
from pathlib import Path

from parlai_q2.retrieve.bm25 import Bm25
from parlai_q2.retrieve.found import Found
from parlai_q2.retrieve.readers import APART, HERE, check_packages
from parlai_q2.retrieve.readers.plain import read_text
from parlai_q2.retrieve.readers.process import ReadingProcess
from parlai_q2.retrieve.split import Length, split
from parlai_q2.retrieve.store import Document, Store
from parlai_q2.turns import Passage


def read_passages(path: Path) -> tuple[Passage, ...]:
    """
    The passages of a document, as an index would have them. A file of a kind that is
    not known is read as text.

    :raises InputError: if it cannot be read.
    """
    ending = path.suffix.lower()
    check_packages(ending)
    length = Length()
    if ending not in APART:
        return tuple(split(path.name, HERE.get(ending, read_text)(path), length))
    with ReadingProcess() as process:
        return tuple(split(path.name, process.read(path), length))


class InMemory:
    """Finds some passages by their words; they are held in memory."""

    def __init__(self, passages: Sequence[Passage]):
        store = Store()
        store.add(Document('', '', 0, 0, 0, 0), passages)
        store.finish()
        self._words = Bm25(store)

    def search(self, queries: Sequence[str], k: int) -> list[list[Found]]:
        """As :meth:`~parlai_q2.retrieve.found.Retriever.search`."""
        return self._words.search(queries, k)
