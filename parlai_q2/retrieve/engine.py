"""The search engine, imported when it is used, and what becomes of its errors."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from parlai_q2.errors import InputError
from parlai_q2.packages import import_package


def tantivy() -> ModuleType:
    """
    The package that searches.

    :raises MissingPackageError: if it is not installed.
    """
    return import_package('tantivy', 'tantivy', 'documents', 'Searching documents')


@contextmanager
def naming(folder: Path | None) -> Iterator[None]:
    """
    Name the index where the engine, or what it has stored, cannot be read. The sampled
    checksums that an index is opened with do not see all of a large file.

    :raises InputError: if so.
    """
    try:
        yield
    except InputError:
        raise
    # The engine is Rust: it panics at some damage, which is no Exception to Python, and
    # has no name that could be imported.
    except BaseException as e:
        is_panic = type(e).__name__ == 'PanicException'
        if not is_panic and not isinstance(e, (ValueError, TypeError, OSError)):
            raise
        problem = str(e).strip().partition('\n')[0][:200]
        raise InputError(
            f'The index in {folder} is damaged ({problem}). Delete it and make it '
            'again: parlai_q2 index DOCUMENTS --outdir INDEX'
        ) from e
