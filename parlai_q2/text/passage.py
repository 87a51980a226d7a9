"""
Which texts are one passage, written in several ways.

Data sets repeat a passage in lower case, or cut into tokens ("bees ' wings"); what is
drawn or held out by passage must not take these for different ones.
"""

import re
from functools import lru_cache

_REST = re.compile(r'[\W_]+')


# Of the texts of one evaluation, which are asked for again by every figure.
@lru_cache(maxsize=8192)
def passage_key(text: str) -> str:
    """
    Letters and digits alone, in lower case; the text itself where it has none.

    :param text: a knowledge.

    >>> passage_key("Bees' wings!") == passage_key("bees ' wings !")
    True
    """
    return _REST.sub('', text.casefold()) or text
