"""
Passages and their words on disk, or in memory, as one tantivy index.

The last passage of a document carries the document's record, with its checksum and the
numbers of its passages, so that a commit changes both or neither, and nothing but
passages is counted by BM25.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, Optional

from parlai_q2.errors import InputError
from parlai_q2.retrieve.engine import naming, tantivy
from parlai_q2.retrieve.found import Found
from parlai_q2.retrieve.words import DEFAULT_LANGUAGE, analyzer, spaced
from parlai_q2.turns import Passage, Source, without_surrogates

KEY, DOCUMENT, WORDS, BODY = 'key', 'document', 'words', 'body'
# Of the last passage of a document.
LAST, RECORD = 'last', 'record'
_TOKENS = 'words'
# Bytes that a writer may hold before it writes a segment.
HEAP = 200_000_000
# Of more passages that fit equally well, any are taken. Asking at once for some more
# than are wanted costs less than asking again: among 100,000 passages, where half of
# the searches for 5 end among equals, .41 ms in place of .54.
MORE, MOST_EQUAL = 64, 256


@dataclass(frozen=True)
class Document:
    """
    A document of the index.

    :param size: in bytes.
    :param changed: when it was changed, in nanoseconds.
    :param first: the number of its first passage; the others follow.
    """

    name: str
    sha256: str
    size: int
    changed: int
    first: int
    count: int


class Store:
    """
    Passages by number, and where their words are.

    :param folder: an existing folder, in which it may be; None: in memory.
    """

    def __init__(self, folder: Optional[Path] = None, language: str = DEFAULT_LANGUAGE):
        self.language = language
        self.folder, self._writer = folder, None
        library = tantivy()
        with naming(folder):
            self._index = library.Index(_schema(library), folder and str(folder))
            self._index.register_tokenizer(_TOKENS, analyzer(language))
            # Else a thread looks for commits, and writes a lock into the folder at any
            # time, also into one that is being removed.
            self._index.config_reader(reload_policy='Manual')
            self.refresh()

    def refresh(self) -> None:
        """See what was committed."""
        self._index.reload()
        self._searcher = self._index.searcher()

    def add(self, document: Document, passages: Iterable[Passage]) -> int:
        """
        Add a document, whose ``count`` is counted here.

        :return: how many passages it has.
        """
        count, held = 0, None
        for passage in passages:
            if held is not None:
                self._add(document, held, count)
            count, held = count + 1, passage
        if held is not None:
            self._add(replace(document, count=count), held, count)
        return count

    def _add(self, document: Document, passage: Passage, number: int) -> None:
        fields: dict[str, Any] = {
            KEY: document.first + number - 1,
            DOCUMENT: document.name,
            WORDS: spaced(f'{named(passage)}\n{without_surrogates(passage.text)}'),
            BODY: json.dumps(passage, ensure_ascii=False).encode(),
        }
        if document.count:
            fields[LAST] = 'yes'
            fields[RECORD] = json.dumps(asdict(document)).encode()
        self._writing().add_document(tantivy().Document(**fields))

    def remove(self, name: str) -> None:
        """Remove a document and its passages."""
        self._writing().delete_documents_by_term(DOCUMENT, name)

    def commit(self) -> None:
        """Keep what was done, and see it."""
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

    def _writing(self) -> Any:
        if self._writer is None:
            # One thread, so that the same documents give the same segments.
            writer = self._index.writer(heap_size=HEAP, num_threads=1)
            # What a run that was killed in a commit wrote and did not name would stand
            # in the way of the same commit.
            writer.garbage_collect_files()
            self._writer = writer
        return self._writer

    def documents(self) -> dict[str, Document]:
        """The documents by name."""
        term = self._term(LAST, 'yes')
        with naming(self.folder):
            hits = self._hits(term, None)
            found = [Document(**_json(one, RECORD)) for one, _ in hits]
        return {one.name: one for one in sorted(found, key=lambda one: one.first)}

    def passages(self, keys: Sequence[int]) -> list[Passage]:
        """
        Passages by their numbers.

        :raises InputError: if there is no such passage.
        """
        found = []
        with naming(self.folder):
            for key in keys:
                hits = list(self._hits(self._term(KEY, key), 1))
                if not hits:
                    raise InputError(f'The index has no passage {key}.')
                found.append(passage_of(_json(hits[0][0], BODY)))
        return found

    def found(self, ranked: Sequence[tuple[int, float]]) -> list[Found]:
        """Passages by their numbers, with their scores."""
        passages = self.passages([key for key, _ in ranked])
        return [
            Found(passage, score, key)
            for passage, (key, score) in zip(passages, ranked, strict=True)
        ]

    def keys(self) -> list[int]:
        """The numbers of all passages, in order."""
        ranges = (range(d.first, d.first + d.count) for d in self.documents().values())
        return sorted(key for one in ranges for key in one)

    def best(
        self, weights: Mapping[str, float], k: int
    ) -> list[tuple[Passage, float, int]]:
        """
        The passages that fit words best, by BM25 (k1 1.2, b 0.75).

        :param weights: what a match of each word counts.
        :return: at most ``k`` passages with their scores and numbers, best first, equal
            ones by the names of their documents.
        """
        library = tantivy()
        terms = [
            (
                library.Occur.Should,
                library.Query.boost_query(self._term(WORDS, w), weight),
            )
            for w, weight in weights.items()
        ]
        if not terms:
            return []
        query = library.Query.boolean_query(terms)
        wanted = k + min(3 * k, MORE)
        with naming(self.folder):
            hits = self._ranked(query, wanted)
            # Which of equal ones come last depends on how the index was built.
            while len(hits) == wanted < MOST_EQUAL and hits[k - 1][0] == hits[-1][0]:
                wanted = 2 * wanted
                hits = self._ranked(query, wanted)
            read: list[tuple[Passage, float, int]] = []
            for score, address in hits:
                # What is certainly not among the best is not read.
                if len(read) >= k and score < hits[k - 1][0]:
                    break
                one = self._searcher.doc(address)
                read.append((passage_of(_json(one, BODY)), score, one.get_first(KEY)))
        # By file: the numbers tell when a document came into the index.
        read.sort(
            key=lambda one: (
                -one[1],
                one[0].source.file if one[0].source else '',
                one[2],
            )
        )
        return read[:k]

    def count_with(self, word: str) -> int:
        """How many passages have a word."""
        return self._searcher.doc_freq(WORDS, word)

    def __len__(self) -> int:
        return sum(document.count for document in self.documents().values())

    def _term(self, field: str, value: Any) -> Any:
        library = tantivy()
        option = 'freq' if field == WORDS else 'basic'
        return library.Query.term_query(self._index.schema, field, value, option)

    def _hits(self, query: Any, k: Optional[int]) -> Iterator[tuple[Any, float]]:
        for score, address in self._ranked(query, k):
            yield self._searcher.doc(address), score

    def _ranked(self, query: Any, k: Optional[int]) -> list[tuple[float, Any]]:
        total = max(1, self._searcher.num_docs)
        limit = total if k is None else min(k, total)
        return self._searcher.search(query, limit, count=False).hits


def _json(entry: Any, field: str) -> Any:
    return json.loads(bytes(entry.get_first(field)))


def _schema(library: Any) -> Any:
    schema = library.SchemaBuilder()
    schema.add_integer_field(KEY, stored=True, indexed=True)
    for name in (DOCUMENT, LAST):
        schema.add_text_field(name, tokenizer_name='raw', index_option='basic')
    schema.add_text_field(WORDS, tokenizer_name=_TOKENS, index_option='freq')
    for name in (BODY, RECORD):
        schema.add_bytes_field(name, stored=True)
    return schema.build()


def searched(passage: Passage) -> str:
    """The text of a passage with its title and headings, of which vectors are made."""
    parts = (_headed(passage), passage.text)
    return without_surrogates('\n'.join(part for part in parts if part))


def named(passage: Passage) -> str:
    """
    What a passage is called: its file, its title and its headings. The names of files
    tell what they are about, and headings in them often leave it out.
    """
    file = PurePosixPath(passage.source.file).stem if passage.source else ''
    return without_surrogates('\n'.join((file.replace('_', ' '), _headed(passage))))


def _headed(passage: Passage) -> str:
    heading = passage.source.heading if passage.source else ''
    title = '' if heading.startswith(passage.title) else passage.title
    return '\n'.join(part for part in (title, heading) if part)


def passage_of(body: Sequence[Any]) -> Passage:
    """A passage from its stored form."""
    text, title, source = body
    return Passage(text, title, Source(*source) if source else None)
