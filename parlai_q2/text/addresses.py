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
TELEPHONE = re.compile(r'(?<![\w.,/-])[+(]{0,2}\d(?:[ ()./-]{0,2}\d){6,14}(?!\w)')
_DATE = re.compile(r'\d\d?([./-])\d\d?\1\d{4}')
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
    """The digits of a telephone number; empty for a decimal number."""
    return '' if match[0].count('.') == 1 else _NOT_DIGITS.sub('', match[0])


def _has_unknown_telephone(knowledge: str, response: str) -> bool:
    """Whether a number that begins as those of telephones do is not known."""
    numbers = set(map(read_telephone, _find_telephones(response)))
    numbers.discard('')
    if not numbers:
        return False
    known = ' '.join(map(read_telephone, TELEPHONE.finditer(knowledge)))
    return any(number[-_LAST_DIGITS:] not in known for number in numbers)


def _find_telephones(text: str) -> list[re.Match[str]]:
    """What begins with a zero or a plus sign, and is no date."""
    return [
        match
        for match in TELEPHONE.finditer(text)
        if match[0].lstrip('(')[0] in '0+' and not _DATE.fullmatch(match[0])
    ]
