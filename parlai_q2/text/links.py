"""
Links in Markdown and HTML: what they show, and where they lead. An invented target is a
mistake as an invented address is; one that the knowledge has is left out of what models
read.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from parlai_q2.text.addresses import bare_link

MARKDOWN_LINK = re.compile(
    r'(!?)\[([^\[\]\n]{1,200})\]\(<?([^()<>\s]{1,500})>?(?: "[^"\n]{0,200}")?\)'
)
ANCHOR = re.compile(
    r'<a\b[^<>]{0,300}?\bhref=["\']?([^"\'\s<>]{1,500})["\']?[^<>]{0,300}>'
    r'((?:[^<>]|</?(?:b|i|u|em|strong|span)\b[^<>]{0,100}>){1,200})</a>',
    re.IGNORECASE,
)
# Targets that may be right or wrong; others lead to a part of the same site.
_WHOLE_TARGET = re.compile(
    r'(?:(?:https?:)?//|www\.|(mailto:|tel:))(?=.)', re.IGNORECASE
)
_TAG = re.compile(r'<[^<>]*>')
_NOT_DIGITS = re.compile(r'\D')
# The fewest digits of a telephone number.
MIN_DIGITS = 6
# What a citation shows: its target is that of the knowledge, not in it.
_SOURCE = re.compile(r'\W*(?:\d{1,3}|sources?|ref)\W*', re.IGNORECASE)
SHOWN_TARGET = re.compile(r' \((https?://[^()\s]+)\)', re.IGNORECASE)
URL = re.compile(r'https?://[^\s<>()]*[^\s<>().,;:!?\'"]', re.IGNORECASE)


def has_links(text: str) -> bool:
    return '](' in text or '<a ' in text.lower()


def as_markdown(match: re.Match[str]) -> str:
    return f'[{_TAG.sub("", match[2])}]({match[1]})'


def show_target(match: re.Match[str]) -> str:
    """ "our shop (https://a.org/shop)" for "[our shop](https://a.org/shop)"."""
    is_image, shown, target = match.groups()
    whole = _WHOLE_TARGET.match(target)
    is_source = _SOURCE.fullmatch(shown)
    if is_image or is_source or not whole or bare_link(target) == bare_link(shown):
        return shown
    if not whole[1]:
        return f'{shown} ({target})'
    contact = target[whole.end() :].partition('?')[0]
    return shown if _is_shown(contact, shown) else f'{shown} ({contact})'


def _is_shown(contact: str, shown: str) -> bool:
    """Whether a link shows its e-mail address, or the last digits of its number."""
    if '@' in contact:
        return contact.lower() in shown.lower()
    digits = _NOT_DIGITS.sub('', shown).lstrip('0')
    return len(digits) >= MIN_DIGITS and _NOT_DIGITS.sub('', contact).endswith(digits)


def show_contact(match: re.Match[str]) -> str:
    """As :func:`show_target`, but only for e-mail and telephone."""
    return show_target(match) if not _is_page(match[3]) else match[2]


def _is_page(target: str) -> bool:
    whole = _WHOLE_TARGET.match(target)
    return whole is None or not whole[1]


@lru_cache(maxsize=256)
def find_links(text: str) -> Mapping[str, str]:
    """What a text's links to pages show, by their targets (:func:`bare_link`)."""
    if not has_links(text):
        return {}
    links = [(m[3], m[2]) for m in MARKDOWN_LINK.finditer(text) if not m[1]]
    links += [(m[1], m[2]) for m in ANCHOR.finditer(text)]
    return {bare_link(target): shown.strip() for target, shown in links}


def known_links(texts: Sequence[str]) -> dict[str, str]:
    """The :func:`find_links` of several texts."""
    return {
        target: shown for text in texts for target, shown in find_links(text).items()
    }
