"""
Says whether a model can read a text at all.

A classifier takes what it does not know for equal: unknown tokens entail unknown
tokens. So texts in a script that its tokenizer lacks, and texts of emoji, control or
zero-width characters, are not given to it.
"""

from typing import Any, Callable, Optional


def knows(tokenizer: Optional[Callable[[], Any]], text: str) -> bool:
    """
    Whether a tokenizer knows at least half of a text's tokens.

    :param tokenizer: loads a Hugging Face tokenizer; None for a model without one.
    :param text: any text.
    :return: False for a text without any token.
    """
    if text.isascii() and text.isprintable() or tokenizer is None:
        return True
    if not any(char.isprintable() and not char.isspace() for char in text):
        return False
    loaded = tokenizer()
    ids = loaded(text, add_special_tokens=False, verbose=False)['input_ids']
    return bool(ids) and 2 * ids.count(loaded.unk_token_id) <= len(ids)
