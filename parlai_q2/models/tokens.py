"""
Tokenizers from a model's ``tokenizer.json``, by the library ``tokenizers`` alone:
importing transformers would take longer than loading the shipped models.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from parlai_q2.errors import ModelError
from parlai_q2.models.model_files import as_model_error, has_file, read_object

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer
    from transformers import PreTrainedTokenizerBase

TOKENIZER_FILE, TOKENIZER_CONFIG = 'tokenizer.json', 'tokenizer_config.json'
SPECIAL = ('bos_token', 'cls_token', 'eos_token', 'pad_token', 'unk_token')
# A test text for each tokenizer: a word, and a character that few tokenizers know.
PROBE = 'a \u2603'
# The most special tokens around a pair of texts, which are RoBERTa's.
SPECIAL_TOKENS = 4


def most_tokens(*texts: str) -> int:
    """
    The most tokens that one or two texts can have, special ones included: each byte of
    UTF-8 is one where a tokenizer knows nothing longer.
    """
    size = sum(len(text.encode('utf-8', 'surrogatepass')) for text in texts)
    return size + SPECIAL_TOKENS


class Tokens:
    """
    A tokenizer.

    :param text: the content of a ``tokenizer.json``.
    :param special: the special tokens by their roles, such as ``eos_token``.
    :param inputs: the names of what its model reads.
    """

    def __init__(
        self,
        text: str,
        special: Mapping[str, str],
        inputs: Sequence[str] = ('input_ids', 'token_type_ids', 'attention_mask'),
    ):
        self._text, self.special, self.inputs = text, dict(special), tuple(inputs)
        self._plain = self._build()
        # The truncating tokenizer is a separate object, because threads may share one.
        self._truncating = lru_cache(maxsize=4)(self._build)

    @classmethod
    def of_transformers(
        cls, tokenizer: 'PreTrainedTokenizerBase', model: str
    ) -> 'Tokens':
        """
        Read the tokens of a transformers tokenizer.

        :raises ModelError: if it is not a fast tokenizer.
        """
        backend = getattr(tokenizer, 'backend_tokenizer', None)
        if backend is None:
            raise ModelError(
                f'{model} has no fast tokenizer, which is needed here: a folder needs '
                f'{TOKENIZER_FILE}.'
            )
        special = {name: getattr(tokenizer, name, None) for name in SPECIAL}
        names = {name: str(token) for name, token in special.items() if token}
        return cls(backend.to_str(), names, tokenizer.model_input_names)

    def __reduce__(self) -> tuple[object, ...]:
        return Tokens, (self._text, self.special, self.inputs)

    def ids(self, text: str) -> list[int]:
        """The ids of a text, without special tokens."""
        ids: list[int] = self._plain.encode(text, add_special_tokens=False).ids
        return ids

    def pieces(self, text: str, add_special_tokens: bool) -> list[str]:
        """The tokens of a text as strings, perhaps with the special ones around it."""
        encoding = self._plain.encode(text, add_special_tokens=add_special_tokens)
        tokens: list[str] = encoding.tokens
        return tokens

    def each(self, texts: Sequence[str]) -> list[list[int]]:
        """The :meth:`ids` of several texts."""
        encodings = self._plain.encode_batch(list(texts), add_special_tokens=False)
        return [encoding.ids for encoding in encodings]

    def count(self, first: str, second: str) -> int:
        """The number of tokens of a pair, special ones included."""
        return len(self._plain.encode(first, second).ids)

    def pairs(
        self, first: Sequence[str], second: Sequence[str], most: int
    ) -> list['Encoding']:
        """Encode pairs in at most ``most`` tokens; the longer text may be cut."""
        tokenizer = self._truncating(most, 0, 'longest_first')
        # Candidates share a passage, which is tokenized once.
        texts = list(dict.fromkeys([*first, *second]))
        split = self._plain.encode_batch(texts, add_special_tokens=False)
        by_text = dict(zip(texts, split, strict=True))
        return [
            tokenizer.post_process(by_text[text], by_text[pair])
            for text, pair in zip(first, second, strict=True)
        ]

    def windows(
        self, first: Sequence[str], second: Sequence[str], most: int, stride: int
    ) -> list[list['Encoding']]:
        """
        For each pair, one or more windows of its second text, of at most this many
        tokens, in which neighbours share ``stride``.
        """
        tokenizer = self._truncating(most, stride, 'only_second')
        encodings = tokenizer.encode_batch(list(zip(first, second, strict=True)))
        return [[encoding, *encoding.overflowing] for encoding in encodings]

    def texts(
        self, texts: Sequence[str], most: int, keep_end: bool = False
    ) -> list['Encoding']:
        """
        Texts of at most this many tokens.

        :param keep_end: whether a longer text loses its beginning instead of its end.
        """
        tokenizer = self._truncating(most, 0, 'longest_first', keep_end)
        encodings: list[Encoding] = tokenizer.encode_batch(list(texts))
        return encodings

    def cut(self, text: str, tokens: int) -> str:
        """The beginning of a text, of at most this many tokens."""
        if most_tokens(text) <= tokens:
            return text
        offsets = self._plain.encode(text, add_special_tokens=False).offsets[:tokens]
        return text[: offsets[-1][1]] if offsets else text

    def cut_start(self, text: str, tokens: int) -> str:
        """The end of a text, of at most this many tokens."""
        if most_tokens(text) <= tokens:
            return text
        offsets = self._plain.encode(text, add_special_tokens=False).offsets[-tokens:]
        return text[offsets[0][0] :] if offsets else text

    def decode(
        self, rows: Sequence[Sequence[int]], skip_special_tokens: bool = True
    ) -> list[str]:
        """Decode ids to texts, by default without special tokens."""
        texts: list[str] = self._plain.decode_batch(
            [list(row) for row in rows], skip_special_tokens=skip_special_tokens
        )
        return texts

    def id(self, role: str) -> int | None:
        """The id of the special token in a role; None if there is none."""
        token = self.special.get(role)
        return None if token is None else self._plain.token_to_id(token)

    def token_id(self, word: str) -> int | None:
        number: int | None = self._plain.token_to_id(word)
        return number

    def knows(self, word: str) -> bool:
        return self.token_id(word) is not None

    def word(self, number: int) -> str:
        """The token of an id."""
        token: str = self._plain.id_to_token(number)
        return token

    @property
    def size(self) -> int:
        """The number of tokens."""
        return int(self._plain.get_vocab_size())

    def words(self, size: int) -> list[str]:
        """The tokens of the first ids, with placeholders for unused ones."""
        words = {n: word for word, n in self._plain.get_vocab().items()}
        return [words.get(n, f'<unused_{n}>') for n in range(size)]

    def _build(
        self,
        most: int = 0,
        stride: int = 0,
        strategy: str = 'longest_first',
        keep_end: bool = False,
    ) -> 'Tokenizer':
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_str(self._text)
        tokenizer.no_padding()
        tokenizer.no_truncation()
        if most:
            side = 'left' if keep_end else 'right'
            tokenizer.enable_truncation(
                most, stride=stride, strategy=strategy, direction=side
            )
        return tokenizer


def read_tokens(folder: Path) -> Tokens:
    """
    The tokenizer of a folder.

    :raises ModelError: if it has no ``tokenizer.json``, or a damaged one.
    """
    if not has_file(folder, TOKENIZER_FILE):
        raise ModelError(
            f'{folder} has no {TOKENIZER_FILE}. Copy it there from the model it was '
            'converted from: ct2-transformers-converter ... --copy_files '
            f'{TOKENIZER_FILE} {TOKENIZER_CONFIG}'
        )
    stamp = (folder / TOKENIZER_FILE).stat()
    return _read(folder, stamp.st_size, stamp.st_mtime_ns)


@lru_cache(maxsize=8)
def _read(folder: Path, size: int, changed: int) -> Tokens:
    """:param size: the file's size, which with ``changed`` tells a new file."""
    special: dict[str, str] = {}
    if has_file(folder, TOKENIZER_CONFIG):
        settings = read_object(folder / TOKENIZER_CONFIG)
        for role in SPECIAL:
            token = settings.get(role)
            token = token.get('content') if isinstance(token, dict) else token
            if isinstance(token, str):
                special[role] = token
    with as_model_error(folder / TOKENIZER_FILE):
        text = (folder / TOKENIZER_FILE).read_text(encoding='utf-8')
        tokens = Tokens(text, special)
        # An empty vocabulary, or one without an unknown token, fails only here.
        tokens.ids(PROBE)
        if not tokens.size:
            raise ValueError('its vocabulary is empty')
        return tokens
