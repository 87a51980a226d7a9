"""
Links, e-mail addresses, paths and codes ("R-12"): they are right or wrong as a whole.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

# What a host without "www." ends with, unless it has three parts or more.
_TOP = '(?-i:com|org|net|edu|gov|info|io|eu|uk|de|fr|nl|ie|ca|au|ch)'
_PATH = r'[^\s<>"\')\]]'
_ADDRESS = re.compile(
    rf'(?:https?://|www\.){_PATH}+'
    r'|[\w.+-]+@[\w-]+(?:\.[\w-]+)*'
    rf'|(?<![\w.@/-])[a-z][\w-]+(?:(?:\.[a-z][\w-]+){{0,8}}\.{_TOP}\b'
    rf'|(?:\.(?-i:[a-z])[\w-]+){{2,8}})(?:/{_PATH}*)?'
    r'|(?<![\w.])~?(?:/[\w.+-]+){2,}/?',
    re.IGNORECASE,
)
# What every address has.
_IN_ADDRESSES = re.compile(r'[@/]|\.[a-z]{2}|www\.', re.IGNORECASE)
_LINK_START = re.compile(r'^(?:https?://)?(?:www\.)?')
# What names no other page: "?utm_source=chat", "#policy".
_NO_PAGE = re.compile(r'[?&]utm_[^#]*|#.*')
# A telephone number begins with a zero or a plus sign. It is no date, perhaps with a
# time, and no decimal mark or colon stands before or behind it. Hours or a price may
# follow it: "0800 111222 9 to 5".
_NO_HOURS = (
    r'(?! ?\(?\d+ ?(?:to \d|[ap]\.?m|hours?|days?|minutes?|euros?|cents?|pounds?))'
)
# In North America, it has groups of three, three and four digits.
TELEPHONE = re.compile(
    r'(?<![\w.,:/-])(?!\d\d?([/-])\d\d?\1\d{2,4}\b)'
    rf'(?:\(?(?:\+|0)(?:{_NO_HOURS}[ ()/-]{{0,2}}\d){{6,14}}'
    r'|(?P<american>(?:\+?1[ .-])?(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4}))'
    r'(?!\w|[.,:/-]\d)'
)
# What may count something, or be a date or a postcode, instead: one group of digits, or
# "+1 200 000".
_OTHER_NUMBER = re.compile(r'\+?\d+|\+\d{1,3}(?: \d{3})+|\d\d \d\d \d{4}|\d{5}-\d{4}')
_NOT_DIGITS = re.compile(r'\D')
# What every telephone number has.
_GROUPS = re.compile(r'\d[ ()./-]{0,2}\d[ ()./-]{0,2}\d')
# The most digits of a country's code.
_MOST_CODE = 3
# "LS1 4AP", "K1A 0B1".
_POSTCODE = r'[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z][A-Z\d]'
# "R-12", and "O+", where the sign counts.
_CODE = re.compile(
    r'(?<![\w/@.-])(?!(?i:over|under|pre|mid|post)-|(?i:v)\d+(?:\.|(?!\w)))'
    rf'(?:{_POSTCODE}\b'
    r'|[A-Za-z]{1,6}-?\d{1,8}[A-Za-z]?(?![\w/@-])'
    r"|[A-Z]{1,2}(?:[+#]{1,2}|-)(?![\w/@+#'-]))"
)
_PLURAL = re.compile(r'[A-Z]+-?\d+s?')
_IS_POSTCODE = re.compile(_POSTCODE)
_CODE_PART = re.compile(r'[a-z]|\d+|[+#]+|-(?!\d)')
# Every code has one of these.
_IN_CODES = re.compile(r'[\d+#-]')
_END = '.,;:!?\'")'
# What a question says of the kind of address that it wants.
_ASKED = {
    'e-mail': re.compile(r'\be-?mails?\b', re.IGNORECASE),
    'telephone': re.compile(r'\b(?:tele)?phone\b|\bcall you\b', re.IGNORECASE),
    'link': re.compile(
        r'\bweb ?(?:site|page|address)\b|\bonline\b|\burl\b', re.IGNORECASE
    ),
}


@lru_cache(maxsize=1024)
def find_addresses(text: str) -> frozenset[str]:
    """
    The links (without "https://www."), e-mail addresses and paths of a text, in lower
    case.

    >>> sorted(find_addresses('Write to Info@example.org, or see www.example.org/faq.'))
    ['example.org/faq', 'info@example.org']
    """
    if not _IN_ADDRESSES.search(text):
        return frozenset()
    return frozenset(bare_link(m[0].rstrip(_END)) for m in _ADDRESS.finditer(text))


def bare_link(link: str) -> str:
    """
    A link in lower case, without what need not be written.

    >>> bare_link('https://www.Example.org/')
    'example.org'
    """
    return _NO_PAGE.sub('', _LINK_START.sub('', link.lower())).removesuffix('/')


def has_unknown_address(knowledge: str, response: str) -> bool:
    """Whether a response has an address or a code that its knowledge has not."""
    addresses = find_addresses(response)
    known_addresses = find_addresses(knowledge) if addresses else frozenset()
    if not all(_is_known(address, known_addresses) for address in addresses):
        return True
    if not _IN_CODES.search(response):
        return False
    if _has_unknown_telephone(knowledge, response):
        return True
    codes = {m[0] for m in _CODE.finditer(response)}
    known = knowledge.lower() if codes else ''
    return not all(_has_code(known, code) for code in codes)


def _has_code(text: str, code: str) -> bool:
    """Whether a text, in lower case, has a code, with spaces or hyphens or without."""
    end = r'(?![+#])' if code[-1] in '+#' else r'(?![^\W_]|[+#])'
    if _IS_POSTCODE.fullmatch(code):
        code = f'{code[:-3]} {code[-3:]}'
    if _PLURAL.fullmatch(code):  # "two A380s"
        code, end = code.removesuffix('s'), f's?{end}'
    parts = r'[\s-]*'.join(map(re.escape, _CODE_PART.findall(code.lower())))
    return re.search(rf'(?<![^\W_]){parts}{end}', text) is not None


def _is_known(address: str, known_addresses: frozenset[str]) -> bool:
    """Whether an address, or a page of this host, is among some."""
    return address in known_addresses or any(
        known.startswith(f'{address}/') for known in known_addresses
    )


def read_telephone(match: re.Match[str]) -> str:
    """The digits of a telephone number; those of an international one behind "+"."""
    text = match[0].replace('(0)', '')
    digits = _NOT_DIGITS.sub('', text)
    if '+' in text:
        return f'+{digits}'
    if match['american']:
        return f'+1{digits[-10:]}'
    return f'+{digits[2:]}' if digits.startswith('00') else digits


def match_telephones(text: str) -> Iterator[re.Match[str]]:
    """Where a text has telephone numbers."""
    # Most texts have no such digits.
    return TELEPHONE.finditer(text) if _GROUPS.search(text) else iter(())


def find_telephone_digits(text: str) -> set[int]:
    """The places in a text that surely belong to telephone numbers."""
    places: set[int] = set()
    for match in match_telephones(text):
        if not _OTHER_NUMBER.fullmatch(match[0]):
            places.update(range(*match.span()))
    return places


def find_telephones(text: str) -> frozenset[str]:
    """The telephone numbers of a text, as :func:`read_telephone` has them."""
    return frozenset(map(read_telephone, match_telephones(text)))


def find_contacts(text: str) -> frozenset[str]:
    """The addresses and telephone numbers of a text."""
    return find_addresses(text) | find_telephones(text)


def kind_of_address(address: str) -> str:
    """
    What an address is, of those that a text has.

    >>> kind_of_address('info@example.org'), kind_of_address('+441134960182')
    ('e-mail', 'telephone')
    """
    if address.lstrip('+').isdecimal():
        return 'telephone'
    return 'e-mail' if '@' in address else 'link'


def has_only_other_kinds(question: str, reply: str) -> bool:
    """
    Whether a question asks for one kind of address, and a reply gives others alone.

    >>> has_only_other_kinds('What is your email?', 'Call 0113 4960182.')
    True
    >>> has_only_other_kinds('Can I call you?', 'Call 0113 4960182.')
    False
    """
    asked = {kind for kind, pattern in _ASKED.items() if pattern.search(question)}
    given = find_contacts(reply) if asked else frozenset()
    return bool(given) and asked.isdisjoint(map(kind_of_address, given))


def is_same_address(address: str, other: str) -> bool:
    """
    Whether two addresses are one, telephone numbers with or without the code of the
    country.

    >>> is_same_address('+441134960182', '01134960182')
    True
    """
    if address.startswith('+') == other.startswith('+'):
        return address == other
    international, national = sorted((address, other))
    ends = (international[1 + n :] for n in range(1, 1 + _MOST_CODE))
    return national.lstrip('0') in ends


def _has_unknown_telephone(knowledge: str, response: str) -> bool:
    numbers = find_telephones(response)
    known_numbers = find_telephones(knowledge) if numbers else frozenset()
    return not all(
        any(is_same_address(number, known) for known in known_numbers)
        for number in numbers
    )
