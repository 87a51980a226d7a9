"""
Passages and their words on disk, or in memory, as one tantivy index.

The last passage of a document carries the document's record, with its checksum and the
numbers of its passages, so that a commit changes both or neither, and BM25 counts only
passages.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import Any

from parlai_q2.errors import InputError
from parlai_q2.retrieve.retriever import Hit
from parlai_q2.retrieve.words import DEFAULT_LANGUAGE, analyzer, put_spaces, tantivy
from parlai_q2.turns import Passage, Source, without_surrogates

KEY, DOCUMENT, WORDS, BODY = 'key', 'document', 'words', 'body'
# Fields of a document's last passage only: a mark, and the document's record.
LAST, RECORD = 'last', 'record'
_TOKENIZER = 'words'
# The bytes that a writer holds at most before it writes a segment.
HEAP = 200_000_000
# Of more passages with equal scores, any are taken. Asking at once for some more than
# the limit costs less than asking again: among 100,000 passages, where half of the
# searches for 5 end among equals, 0.41 ms instead of 0.54.
MAX_EXTRA, MAX_EQUAL = 64, 256


@dataclass(frozen=True)
class Document:
    """
    A document of the index.

    :param size: in bytes.
    :param changed: when it was changed, in nanoseconds.
    :param first: the number of its first passage; the others follow.
    """

    name: str
    sha256: str = ''
    size: int = 0
    changed: int = 0
    first: int = 0
    count: int = 0


class Store:
    """
    Passages by their numbers, and an index of their words.

    :param folder: an existing folder, perhaps with a store; None: in memory.
    """

    def __init__(self, folder: Path | None = None, language: str = DEFAULT_LANGUAGE):
        self.language, self.folder = language, folder
        self._writer: Any = None
        library = tantivy()
        with as_damaged_index(folder):
            self._index = library.Index(_schema(library), folder and str(folder))
            self._index.register_tokenizer(_TOKENIZER, analyzer(language))
            # Otherwise a thread looks for commits, and may write a lock into a folder
            # that is being removed.
            self._index.config_reader(reload_policy='Manual')
            self.refresh()

    def refresh(self) -> None:
        """Load the latest commit."""
        self._index.reload()
        self._searcher = self._index.searcher()

    def add(self, document: Document, passages: Iterable[Passage]) -> int:
        """
        Add a document, whose ``count`` is set here.

        :return: the number of its passages.
        """
        count, previous = 0, None
        for passage in passages:
            if previous is not None:
                self._add(document, previous, count)
            count, previous = count + 1, passage
        if previous is not None:
            self._add(replace(document, count=count), previous, count)
        return count

    def _add(self, document: Document, passage: Passage, number: int) -> None:
        words = f'{passage_name(passage)}\n{without_surrogates(passage.text)}'
        fields: dict[str, Any] = {
            KEY: document.first + number - 1,
            DOCUMENT: document.name,
            WORDS: put_spaces(words),
            BODY: json.dumps(passage, ensure_ascii=False).encode(),
        }
        if document.count:
            fields[LAST] = 'yes'
            fields[RECORD] = json.dumps(asdict(document)).encode()
        self._open_writer().add_document(tantivy().Document(**fields))

    def remove(self, name: str) -> None:
        """Remove a document and its passages."""
        self._open_writer().delete_documents_by_term(DOCUMENT, name)

    def commit(self) -> None:
        """Commit the changes, and load them."""
        if self._writer is not None:
            self._writer.commit()
        self.refresh()

    def finish(self) -> None:
        """Commit, and wait until segments are merged; nothing can be added after."""
        if self._writer is not None:
            self._writer.commit()
            self._writer.garbage_collect_files()
            self._writer.wait_merging_threads()
            self._writer = None
        self.refresh()

    def _open_writer(self) -> Any:
        if self._writer is None:
            # One thread, so that the same documents always give the same segments.
            writer = self._index.writer(heap_size=HEAP, num_threads=1)
            # Unnamed files of a run that was killed in a commit would block the same
            # commit.
            writer.garbage_collect_files()
            self._writer = writer
        return self._writer

    def documents(self) -> dict[str, Document]:
        """The documents by name."""
        with as_damaged_index(self.folder):
            entries = self._find(self._term(LAST, 'yes'), self._searcher.num_docs)
            documents = [Document(**_parse_field(entry, RECORD)) for entry in entries]
        return {d.name: d for d in sorted(documents, key=lambda d: d.first)}

    def passages(self, keys: Sequence[int]) -> list[Passage]:
        """
        Passages by their numbers.

        :raises InputError: if there is no such passage.
        """
        passages = []
        with as_damaged_index(self.folder):
            for key in keys:
                entry = next(self._find(self._term(KEY, key), 1), None)
                if entry is None:
                    raise InputError(f'The index has no passage {key}.')
                passages.append(_read_passage(entry))
        return passages

    def hits(self, ranked: Sequence[tuple[int, float]]) -> list[Hit]:
        """Passages by their numbers, with their scores."""
        passages = self.passages([key for key, _ in ranked])
        hits = [
            Hit(passage, score, key)
            for passage, (key, score) in zip(passages, ranked, strict=True)
        ]
        return sorted(hits, key=_order)

    def keys(self) -> list[int]:
        """The numbers of all passages, in order."""
        keys = list[int]()
        for document in self.documents().values():
            keys += range(document.first, document.first + document.count)
        return sorted(keys)

    def best(self, weights: Mapping[str, float], k: int) -> list[Hit]:
        """
        Find the passages that fit words best, by BM25 (k1 1.2, b 0.75).

        :param weights: the weight of each word.
        :return: at most ``k`` passages, best first, equal ones by the names of their
            documents.
        """
        library = tantivy()
        terms = [
            library.Query.boost_query(self._term(WORDS, word), weight)
            for word, weight in weights.items()
        ]
        if not terms:
            return []
        query = library.Query.boolean_query([(library.Occur.Should, t) for t in terms])
        limit = k + min(3 * k, MAX_EXTRA)
        with as_damaged_index(self.folder):
            ranked = self._rank(query, limit)
            # The order of equal passages depends on how the index was built.
            while (
                len(ranked) == limit < MAX_EQUAL and ranked[k - 1][0] == ranked[-1][0]
            ):
                limit *= 2
                ranked = self._rank(query, limit)
            hits = list[Hit]()
            for score, address in ranked:
                # Passages that cannot be among the best are not read.
                if len(hits) >= k and score < ranked[k - 1][0]:
                    break
                entry = self._searcher.doc(address)
                hits.append(Hit(_read_passage(entry), score, entry.get_first(KEY)))
        # Equal ones are sorted by file, since numbers depend on the order of indexing.
        return sorted(hits, key=_order)[:k]

    def count_with(self, word: str) -> int:
        """The number of passages with a word."""
        return int(self._searcher.doc_freq(WORDS, word))

    def _term(self, field: str, value: str | int) -> Any:
        option = 'freq' if field == WORDS else 'basic'
        return tantivy().Query.term_query(self._index.schema, field, value, option)

    def _find(self, query: object, k: int) -> Iterator[Any]:
        for _, address in self._rank(query, k):
            yield self._searcher.doc(address)

    def _rank(self, query: object, k: int) -> list[tuple[float, Any]]:
        limit = max(1, min(k, self._searcher.num_docs))
        hits: list[tuple[float, Any]] = self._searcher.search(
            query, limit, count=False
        ).hits
        return hits


def _order(hit: Hit) -> tuple[float, str, int]:
    source = hit.passage.source
    return -hit.score, source.file if source else '', hit.key


def _parse_field(entry: Any, field: str) -> Any:
    return json.loads(bytes(entry.get_first(field)))


def _read_passage(entry: object) -> Passage:
    text, title, source = _parse_field(entry, BODY)
    return Passage(text, title, Source(*source) if source else None)


def _schema(library: ModuleType) -> Any:
    schema = library.SchemaBuilder()
    schema.add_integer_field(KEY, stored=True, indexed=True)
    for name in (DOCUMENT, LAST):
        schema.add_text_field(name, tokenizer_name='raw', index_option='basic')
    schema.add_text_field(WORDS, tokenizer_name=_TOKENIZER, index_option='freq')
    for name in (BODY, RECORD):
        schema.add_bytes_field(name, stored=True)
    return schema.build()


def searched_text(passage: Passage) -> str:
    """The text of a passage with its title and headings, for its vector."""
    parts = (_headings(passage), passage.text)
    return without_surrogates('\n'.join(part for part in parts if part))


def passage_name(passage: Passage) -> str:
    """
    The name of a passage: its file, its title and its headings. File names often have
    the topic that headings omit.
    """
    file = PurePosixPath(passage.source.file).stem if passage.source else ''
    return without_surrogates('\n'.join((file.replace('_', ' '), _headings(passage))))


def _headings(passage: Passage) -> str:
    heading = passage.source.heading if passage.source else ''
    title = '' if heading.startswith(passage.title) else passage.title
    return '\n'.join(part for part in (title, heading) if part)


@contextmanager
def as_damaged_index(folder: Path | None) -> Iterator[None]:
    """
    Turn errors of the engine for damaged files into an error that names the index. The
    checksums of some blocks, by which an index is opened, may overlook damage in a
    large file.

    :raises InputError: if the index is damaged.
    """
    try:
        yield
    except InputError:
        raise
    # The engine is Rust: it panics at some damage, which in Python is no Exception and
    # cannot be imported by name.
    except BaseException as e:
        is_panic = type(e).__name__ == 'PanicException'
        if not is_panic and not isinstance(e, (ValueError, TypeError, OSError)):
            raise
        problem = str(e).strip().partition('\n')[0][:200]
        raise InputError(
            f'The index in {folder} is damaged ({problem}). Delete it and make it '
            'again: parlai_q2 index DOCUMENTS --outdir INDEX'
        ) from e
