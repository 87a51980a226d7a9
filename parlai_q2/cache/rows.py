"""Converts between scores and the rows of the score cache."""

import hashlib
import json
import zlib
from typing import Any, Optional

from parlai_q2.claims import Score
from parlai_q2.io.strict_json import is_number

Pair = tuple[str, str]

# What the fields of a stored score are if not texts.
SPANS = ('span', 'response_span', 'knowledge_span')
LISTS = ('verdicts', 'statements', 'evidence', *SPANS)
KINDS = {'fallback': bool, 'passage': int, **dict.fromkeys(SPANS, int)}
NULLABLE = ('knowledge_answer', 'knowledge_span', 'passage')


def pair_key(pair: Pair) -> bytes:
    """The SHA-256 of knowledge and response, including where the knowledge ends."""
    knowledge, response = (text.encode('utf-8', 'surrogatepass') for text in pair)
    return hashlib.sha256(b'%d:' % len(knowledge) + knowledge + response).digest()


def encode(score: Score, signature: str, key: bytes) -> tuple[bytes, int]:
    """
    A score as JSON, which does not repeat the signature it is stored under, and its
    checksum.
    """
    fields = score.to_dict()
    if fields['signature'] == signature:
        del fields['signature']
    value = json.dumps(fields, allow_nan=False).encode()
    return value, checksum_of(value, signature, key)


def checksum_of(value: bytes, signature: str, key: bytes) -> int:
    """
    The CRC-32 of a value with its signature and key, because in a file of old and new
    parts (copied during a write) an intact value may stand under another key.
    """
    return zlib.crc32(value, zlib.crc32(key, zlib.crc32(signature.encode())))


def decode(value: Any, checksum: Any, signature: str, key: bytes) -> Optional[Score]:
    """
    Read back what :func:`encode` returned; None if the value is damaged, belongs to
    another pair or signature, or is not a score.
    """
    if not isinstance(value, bytes) or checksum_of(value, signature, key) != checksum:
        return None
    try:
        fields = {'signature': signature, **json.loads(value)}
        score = Score.from_dict(fields)
        return score if _is_right('', fields) else None
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        # It was written by a version with other fields, or by hand.
        return None


def _is_right(name: str, value: Any) -> bool:
    """Whether the value of a field, and what it holds, have the right types."""
    if name == 'parts':
        return all(map(is_number, value.values()))
    if isinstance(value, dict):
        return all(_is_right(key, inner) for key, inner in value.items())
    if isinstance(value, list):
        return name in LISTS and all(_is_right(name, inner) for inner in value)
    if name in ('score', 'f1'):
        return is_number(value)
    if value is None:
        return name in NULLABLE
    return type(value) is KINDS.get(name, str)
