"""
A tokenizer's words, and the chat template that it brings.

Everything is read as data from the files beside the model: ``tokenizer.json``,
``tokenizer_config.json`` and ``chat_template.jinja``. Where there is no
``tokenizer.json``, transformers makes one from what there is.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any, Optional

from parlai_q2.errors import ModelError
from parlai_q2.generate.unknown import restored
from parlai_q2.models.folder import blaming, read_object

TOKENIZER, SETTINGS = 'tokenizer.json', 'tokenizer_config.json'
TEMPLATE = 'chat_template.jinja'
SPECIAL = ('bos_token', 'eos_token', 'unk_token', 'pad_token')
# Tokenizers without a limit say some huge number.
NO_LIMIT = 1_000_000


@dataclass(frozen=True)
class Words:
    """
    A tokenizer.

    :param tokenizer: a ``tokenizers.Tokenizer``.
    :param special: its special tokens by name, such as ``eos_token``.
    :param template: its chat template, if it has one.
    :param most: the longest context in tokens, if it says so.
    """

    tokenizer: Any = field(repr=False)
    special: Mapping[str, str] = field(default_factory=dict)
    template: Optional[str] = field(default=None, repr=False)
    most: Optional[int] = None

    def encode(self, text: str, frame: bool = True) -> list[str]:
        """:param frame: whether to add the tokens that go around a text."""
        return self.tokenizer.encode(text, add_special_tokens=frame).tokens

    def beginning(self, text: str) -> list[str]:
        """The tokens with which a decoder's text begins, such as BART's ``<s>``."""
        framed, plain = self.encode(text), self.encode(text, frame=False)
        known = plain and plain[0] in framed
        return [*framed[: framed.index(plain[0])], *plain] if known else plain

    def decode(self, tokens: Sequence[str], context: Sequence[str] = ()) -> str:
        """
        The text of tokens, without special ones and those it does not know.

        :param context: what the model read, where a text for those is looked for.
        """
        unknown = self.special.get('unk_token', '')
        meant = restored(tokens, context, unknown, self.knows) if unknown else []
        if not any(meant):
            return self._decoded(tokens, skip_special_tokens=True).strip()
        frames = {*self.special.values()} - {unknown}
        kept = [token for token in tokens if token not in frames]
        between = self._decoded(kept, skip_special_tokens=False).split(unknown)
        pieces = zip_longest(between, meant, fillvalue='')
        return ''.join(text + own for text, own in pieces).strip()

    def _decoded(self, tokens: Sequence[str], skip_special_tokens: bool) -> str:
        ids = (self.tokenizer.token_to_id(token) for token in tokens)
        known = [i for i in ids if i is not None]
        return self.tokenizer.decode(known, skip_special_tokens=skip_special_tokens)

    def knows(self, token: str) -> bool:
        return self.tokenizer.token_to_id(token) is not None


def read_words(folder: Path) -> Words:
    """
    Read the tokenizer of a folder.

    :raises ModelError: when it has none, or one that cannot be read.
    """
    path = folder / SETTINGS
    settings = read_object(path) if path.exists() else {}
    with blaming(folder / TOKENIZER):
        tokenizer = _read_tokenizer(folder)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    special = {n: _text(settings[n]) for n in SPECIAL if settings.get(n)}
    most = settings.get('model_max_length')
    limit = int(most) if isinstance(most, (int, float)) and most < NO_LIMIT else None
    return Words(tokenizer, special, _template(folder, settings), limit)


def _read_tokenizer(folder: Path) -> Any:
    from tokenizers import Tokenizer

    if (folder / TOKENIZER).exists():
        return Tokenizer.from_file(str(folder / TOKENIZER))
    others = (
        'tokenizer.model',
        'spiece.model',
        'sentencepiece.bpe.model',
        'vocab.json',
    )
    if not any((folder / name).exists() for name in others):
        raise ModelError(
            f'{folder} has no {TOKENIZER}. Copy it from the model that was converted: '
            'ct2-transformers-converter --copy_files tokenizer.json '
            'tokenizer_config.json ...'
        )
    from transformers import AutoTokenizer

    found = AutoTokenizer.from_pretrained(
        str(folder), trust_remote_code=False, local_files_only=True, use_fast=True
    )
    if not getattr(found, 'is_fast', False):
        raise ModelError(
            f'{folder} has a tokenizer without a {TOKENIZER}. Save it with '
            'AutoTokenizer.from_pretrained(...).save_pretrained(...), and copy it.'
        )
    return found.backend_tokenizer


def _template(folder: Path, settings: Mapping[str, Any]) -> Optional[str]:
    path = folder / TEMPLATE
    if path.exists():
        with blaming(path):
            return path.read_text(encoding='utf-8')
    found = settings.get('chat_template')
    if isinstance(found, list):
        # Several by name; the one for chats without tools is called default.
        named = {t.get('name'): t.get('template') for t in found if isinstance(t, dict)}
        found = named.get('default')
    if found is not None and not isinstance(found, str):
        said = json.dumps(found)[:80]
        raise ModelError(f'{folder / SETTINGS}: chat_template is {said}, not a text.')
    return found


def _text(token: Any) -> str:
    """A token that is stored as a text, or as an object with its properties."""
    return str(token.get('content', '')) if isinstance(token, dict) else str(token)
