"""
A generator's tokenizer, from ``tokenizer.json`` and ``tokenizer_config.json``. Without
a ``tokenizer.json``, transformers makes one from the other files.

Characters for which a model has no token are restored in replies. T5 has no "ñ": the
shipped model reads "Peña" as "Pe", an unknown token and "a", and writes the same. The
missing character is in the context between the same neighbours (Luong et al. 2015,
"Addressing the rare word problem in neural machine translation", who let the model
point at it).
"""

from collections.abc import Callable, Sequence
from itertools import takewhile, zip_longest
from pathlib import Path

from parlai_q2.models.loading import load_tokenizer
from parlai_q2.models.model_files import read_object
from parlai_q2.models.tokens import (
    TOKENIZER_CONFIG,
    TOKENIZER_FILE,
    Tokens,
    read_tokens,
)

TEMPLATE = 'chat_template.jinja'
# Files from which transformers can make a tokenizer.json.
VOCABULARIES = 'tokenizer.model spiece.model sentencepiece.bpe.model vocab.json'.split()
# Tokenizers without a limit give a huge number instead.
NO_LIMIT = 1_000_000
# SentencePiece's mark for the beginning of a word.
WORD_START = '▁'
# The number of tokens that are compared on each side of an unknown one.
MAX_NEIGHBOURS = 12


def read_tokenizer(folder: Path) -> tuple[Tokens, bool, int | None]:
    """
    Read the tokenizer in a folder.

    :return: the tokenizer, whether it has a chat template, and the longest context in
        tokens, which may be None.
    :raises ModelError: if there is none, or it cannot be read.
    """
    path = folder / TOKENIZER_CONFIG
    settings = read_object(path) if path.exists() else {}
    has_vocabulary = any((folder / name).exists() for name in VOCABULARIES)
    if (folder / TOKENIZER_FILE).exists() or not has_vocabulary:
        tokens = read_tokens(folder)
    else:
        tokenizer = load_tokenizer(str(folder))
        tokens = Tokens.of_transformers(tokenizer, str(folder))
    limit = settings.get('model_max_length')
    max_length = None
    if isinstance(limit, (int, float)) and limit < NO_LIMIT:
        max_length = int(limit)
    template = settings.get('chat_template')
    has_template = (folder / TEMPLATE).exists() or template is not None
    return tokens, has_template, max_length


def decode(tokens: Tokens, words: Sequence[str], context: Sequence[str] = ()) -> str:
    """
    Decode a reply's tokens, without special ones and with unknown ones restored.

    :param context: the tokens that the model read, in which unknown ones are looked up.
    """

    def join(words: Sequence[str], skip_special_tokens: bool) -> str:
        ids = [n for word in words if (n := tokens.token_id(word)) is not None]
        return tokens.decode([ids], skip_special_tokens)[0]

    unknown = tokens.special.get('unk_token', '')
    texts: list[str] = []
    if unknown:
        texts = restore_unknown(words, context, unknown, tokens.knows)
    if not any(texts):
        return join(words, skip_special_tokens=True).strip()
    hidden = {*tokens.special.values()} - {unknown}
    visible = [word for word in words if word not in hidden]
    parts = join(visible, skip_special_tokens=False).split(unknown)
    pairs = zip_longest(parts, texts, fillvalue='')
    return ''.join(part + text for part, text in pairs).strip()


def restore_unknown(
    tokens: Sequence[str],
    context: Sequence[str],
    unknown: str,
    knows: Callable[[str], bool],
) -> list[str]:
    """
    Find the texts of a reply's unknown tokens.

    :param tokens: the reply.
    :param context: the tokens that the model read, with texts instead of unknown ones.
    :param unknown: the unknown token.
    :param knows: returns whether the model has a token.
    :return: a text for each unknown token, in order; empty if the context has none.

    >>> knows = 'BPea'.__contains__
    >>> restore_unknown(['Pe', '?', 'a'], ['B', '♭', 'Pe', 'ñ', 'a'], '?', knows)
    ['ñ']
    """
    places = [index for index, token in enumerate(tokens) if token == unknown]
    if not places:
        return []
    sources = [index for index, token in enumerate(context) if not knows(token)]
    return [_find_source(tokens, place, context, sources) for place in places]


def _find_source(
    tokens: Sequence[str], place: int, context: Sequence[str], sources: Sequence[int]
) -> str:
    """The unknown text of the context whose neighbours are most alike."""
    before, after = _neighbours(tokens, place)
    best_count, text = 0, ''
    for source in sources:
        before_source, after_source = _neighbours(context, source)
        count = _common_prefix(before, before_source)
        count += _common_prefix(after, after_source)
        if count > best_count:
            best_count, text = count, context[source]
    if best_count == 0 and len({context[source] for source in sources}) == 1:
        text = context[sources[0]]
    return text.strip(WORD_START)


def _neighbours(tokens: Sequence[str], place: int) -> tuple[list[str], list[str]]:
    """The texts of the tokens before a place, nearest first, and of those after it."""
    before = tokens[max(place - MAX_NEIGHBOURS, 0) : place]
    after = tokens[place + 1 : place + 1 + MAX_NEIGHBOURS]
    return _texts(before)[::-1], _texts(after)


def _texts(tokens: Sequence[str]) -> list[str]:
    plain = (token.strip(WORD_START).lower() for token in tokens)
    return [text for text in plain if text]


def _common_prefix(first: Sequence[str], second: Sequence[str]) -> int:
    pairs = zip(first, second, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
