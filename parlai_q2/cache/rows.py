"""Converts between scores and the rows of the score cache."""

import hashlib
import json
import zlib
from typing import Any

from parlai_q2.claims import Score
from parlai_q2.errors import InputError
from parlai_q2.scorers.shell import Pair


def pair_key(pair: Pair) -> bytes:
    """The SHA-256 of all texts, including where each ends."""
    knowledge, response = pair
    digest = hashlib.sha256()
    for text in (*knowledge, response):
        encoded = text.encode('utf-8', 'surrogatepass')
        digest.update(b'%d:' % len(encoded) + encoded)
    return digest.digest()


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


def decode(value: Any, checksum: Any, signature: str, key: bytes) -> Score | None:
    """
    Read back what :func:`encode` returned; None if the value is damaged, belongs to
    another pair or signature, or is not a score.
    """
    if not isinstance(value, bytes) or checksum_of(value, signature, key) != checksum:
        return None
    try:
        return Score.from_dict({'signature': signature, **json.loads(value)})
    except (InputError, TypeError, ValueError, RecursionError):
        # It was written by a version with other fields, or by hand.
        return None
