"""
Recognises texts that are the same passage, written in different ways.

Data sets repeat a passage in lower case, or tokenised ("bees ' wings"). Code that
samples or holds out data by passage must treat these as one.
"""

import re
from functools import lru_cache

_REST = re.compile(r'[\W_]+')


# Every figure of an evaluation asks for the keys of the same texts.
@lru_cache(maxsize=8192)
def passage_key(text: str) -> str:
    """
    A key that is equal for all spellings of a passage: its letters and digits in lower
    case, or the text itself if it has none.

    :param text: a passage of knowledge.

    >>> passage_key("Bees' wings!") == passage_key("bees ' wings !")
    True
    """
    return _REST.sub('', text.casefold()) or text
