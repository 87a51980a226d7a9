"""
The words of passages and queries, as the index has them, and their weights.

Words are lower-cased, freed of accents and stemmed (Snowball) by tantivy. Scripts that
put no spaces between words are cut into pairs of characters first, as Lucene's CJK
analyser does.
"""

import json
import re
import unicodedata
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from parlai_q2.errors import UnknownNameError
from parlai_q2.packages import import_package

DEFAULT_LANGUAGE = 'english'
LANGUAGES = (
    'arabic danish dutch english finnish french german greek hungarian italian '
    'norwegian portuguese romanian russian spanish swedish turkish none'
).split()
# In bytes of UTF-8, of which a letter may take several.
MAX_LENGTH = 160
# Fitted by benchmarks/fit_chat_words.py.
CHAT_WORDS = Path(__file__).with_name('chat_words.json')
# Chinese, Japanese, Thai, Lao, Khmer and Burmese.
_UNSPACED = re.compile(
    '[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff'
    '\uf900-\ufaff\U00020000-\U0003134f]+'
)
# Literals: texts in backticks, options, commands of a chat, and names with an
# underscore or an inner capital.
_LITERAL = re.compile(
    r'`([^`\n]+)`|(?<![\w/-])(--?[a-z][\w-]*|/[a-z][\w-]*(?![\w/])|'
    r'[a-z]\w*_\w+|\w*[a-z][A-Z]\w*)'
)


def tantivy() -> ModuleType:
    """Import the search engine; a MissingPackageError if it is not installed."""
    return import_package('tantivy', 'tantivy', 'documents', 'Searching documents')


@cache
def analyzer(language: str = DEFAULT_LANGUAGE) -> Any:
    """
    Make the analyser of a language.

    :param language: one of :data:`LANGUAGES`; ``none`` does not stem.
    :raises UnknownNameError: for another language.
    """
    if language not in LANGUAGES:
        raise UnknownNameError('language', language, LANGUAGES)
    library = tantivy()
    keep = library.Filter
    built = (
        library.TextAnalyzerBuilder(library.Tokenizer.simple())
        .filter(keep.remove_long(MAX_LENGTH))
        .filter(keep.lowercase())
        .filter(keep.ascii_fold())
    )
    if language != 'none':
        built = built.filter(keep.stemmer(language))
    return built.build()


def split_words(text: str, language: str = DEFAULT_LANGUAGE) -> list[str]:
    """
    The words of a text, in order.

    >>> split_words('The Angara flows out of Lake Baikal.')
    ['the', 'angara', 'flow', 'out', 'of', 'lake', 'baikal']
    """
    words: list[str] = analyzer(language).analyze(put_spaces(text))
    return words


@lru_cache(maxsize=1)
def _chat_weights() -> Mapping[str, float]:
    words: Mapping[str, float] = json.loads(CHAT_WORDS.read_text(encoding='utf-8'))
    return words


def chat_weight(word: str) -> float:
    """
    The weight of a word, as :func:`split_words` returns it, in a query from a
    conversation, in [0, 1]: a word such as "hello" says little about the passage that
    the reply rests on.
    """
    return _chat_weights().get(word, 1.0)


def find_literals(text: str) -> list[str]:
    """
    Find the literals in a text, written as in code.

    >>> find_literals('What do --fields, /why and put_data do in `parlai_q2 score`?')
    ['--fields', '/why', 'put_data', 'parlai_q2 score']
    """
    literals = ((match[1] or match[2]).strip() for match in _LITERAL.finditer(text))
    return [literal for literal in literals if literal]


def put_spaces(text: str) -> str:
    """
    Normalise a text's characters, and add spaces where its script has none.

    >>> put_spaces('東京都 1')
    ' 東京 京都  1'
    """
    if text.isascii():
        return text
    return _UNSPACED.sub(_pairs, unicodedata.normalize('NFKC', text))


def _pairs(match: re.Match[str]) -> str:
    run = match[0]
    if len(run) == 1:
        return f' {run} '
    return ' ' + ' '.join(run[i : i + 2] for i in range(len(run) - 1)) + ' '
