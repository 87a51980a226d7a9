"""
The words of a text that carry content: spaCy's tokens in lower case, without its stop
words and punctuation, as the released code of Honovich et al. 2021 counts them for the
"Overlap" baseline (section 4).
"""

from functools import lru_cache
from typing import Any


@lru_cache(maxsize=1)
def _tokenizer() -> Any:
    import spacy

    # The blank tokenizer is rule-based and the same as in the English pipelines.
    return spacy.blank('en').tokenizer


def content_words(text: str) -> list[str]:
    """The content words of a text in lower case, in order, with repetition."""
    tokens = _tokenizer()(text)
    return [t.lower_ for t in tokens if not (t.is_stop or t.is_punct)]


def content_words_name() -> str:
    """What determines the content words, as signatures print it; loads nothing."""
    from importlib.metadata import version

    return f'spacy-{version("spacy")}'
