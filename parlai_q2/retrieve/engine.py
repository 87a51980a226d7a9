"""The search engine, imported when it is used."""

from types import ModuleType

from parlai_q2.packages import import_package


def tantivy() -> ModuleType:
    """
    The package that searches.

    :raises MissingPackageError: if it is not installed.
    """
    return import_package('tantivy', 'tantivy', 'documents', 'Searching documents')
