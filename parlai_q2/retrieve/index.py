"""Opens an index of documents, to search it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Union

from parlai_q2.errors import InputError
from parlai_q2.retrieve.bm25 import Bm25
from parlai_q2.retrieve.found import Found
from parlai_q2.retrieve.manifest import MAKE, Manifest, check, read_manifest
from parlai_q2.retrieve.store import Store


class Index:
    """
    An index of documents.

    :param folder: as ``parlai_q2 index`` made it.
    :raises InputError: if there is none, or it is damaged.
    """

    def __init__(self, folder: Union[str, Path]):
        self.folder = Path(folder).expanduser()
        manifest = read_manifest(self.folder)
        if manifest is None:
            raise InputError(
                f'There is no index in {self.folder}. {MAKE.format(self.folder)}'
            )
        check(self.folder, manifest)
        self.manifest: Manifest = manifest
        self.store = Store(self.folder / manifest.folder, manifest.settings.language)
        self.words = Bm25(self.store)

    def __len__(self) -> int:
        return self.manifest.passages

    def search(self, queries: Sequence[str], k: int) -> list[list[Found]]:
        """As :meth:`~parlai_q2.retrieve.found.Retriever.search`, by words."""
        return self.words.search(queries, k)

    @property
    def signature(self) -> str:
        """What decides what a search finds, for the signatures of scores."""
        return f'bm25,index:{self.manifest.content}'
