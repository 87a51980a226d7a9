"""
Links, e-mail addresses, paths and codes ("R-12"): they are right or wrong as a whole.
"""

import re
from functools import lru_cache

from parlai_q2.text.normalize import copy_key

_ADDRESS = re.compile(
    r'(?:https?://|www\.)[^\s<>"\')\]]+'
    r'|[\w.+-]+@[\w-]+(?:\.[\w-]+)+'
    r'|(?<![\w.])~?(?:/[\w.+-]+){2,}/?',
    re.IGNORECASE,
)
# A telephone number begins with a zero or a plus sign. It is no date, perhaps with a
# time, and no decimal mark or colon stands before or behind it.
TELEPHONE = re.compile(
    r'(?<![\w.,:/-])(?!\d\d?([/-])\d\d?\1\d{2,4}\b)'
    r'\(?(?:\+|0)(?:[ ()/-]{0,2}\d){6,14}(?!\w|[.,:/-]\d)'
)
_NOT_DIGITS = re.compile(r'\D')
# The last digits of a telephone number, which it has with and without a prefix.
_LAST_DIGITS = 6
# "R-12", and "O+", where the sign counts.
_CODE = re.compile(
    r'(?<![\w/@.-])(?:[A-Za-z]{1,6}-?\d{1,8}[A-Za-z]?(?![\w/@-])'
    r"|[A-Z]{1,2}(?:[+#]{1,2}|-)(?![\w/@+#'-]))"
)
# Every code has one of these.
_IN_CODES = re.compile(r'[\d+#-]')
_END = '.,;:!?\'")'


@lru_cache(maxsize=1024)
def find_addresses(text: str) -> frozenset[str]:
    """
    The links, e-mail addresses and paths of a text, in lower case.

    >>> sorted(find_addresses('Write to Info@example.org, or see /docs/faq.'))
    ['/docs/faq', 'info@example.org']
    """
    if '@' not in text and '/' not in text and 'www.' not in text.lower():
        return frozenset()
    addresses = (m[0].lower().rstrip(_END) for m in _ADDRESS.finditer(text))
    return frozenset(address.removesuffix('/') for address in addresses)


def has_unknown_address(knowledge: str, response: str) -> bool:
    """Whether a response has an address or a code that its knowledge has not."""
    addresses = find_addresses(response)
    if addresses and not addresses <= find_addresses(knowledge):
        return True
    if not _IN_CODES.search(response):
        return False
    if _has_unknown_telephone(knowledge, response):
        return True
    codes = {copy_key(m[0]) for m in _CODE.finditer(response)}
    if not codes:
        return False
    key = copy_key(knowledge)
    return any(code not in key for code in codes)


def read_telephone(match: re.Match[str]) -> str:
    """The digits of a telephone number."""
    return _NOT_DIGITS.sub('', match[0])


def _has_unknown_telephone(knowledge: str, response: str) -> bool:
    numbers = set(map(read_telephone, TELEPHONE.finditer(response)))
    if not numbers:
        return False
    known_digits = ' '.join(map(read_telephone, TELEPHONE.finditer(knowledge)))
    return any(number[-_LAST_DIGITS:] not in known_digits for number in numbers)
