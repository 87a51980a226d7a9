"""
Converts between scores and the rows of a score file.
"""

import hashlib
import json
import math
import zlib
from typing import Optional

from parlai_q2.records import Score

Pair = tuple[str, str]


def pair_key(pair: Pair) -> bytes:
    """
    The SHA-256 of knowledge and response, including where the knowledge ends.
    """
    knowledge, response = (text.encode('utf-8', 'surrogatepass') for text in pair)
    return hashlib.sha256(b'%d:' % len(knowledge) + knowledge + response).digest()


def encode(score: Score, signature: str, key: bytes) -> tuple[bytes, int]:
    """
    A score as JSON, and its checksum.

    :param score: the score.
    :param signature: the signature it is stored under, which the JSON does not repeat.
    :param key: the key of its pair.
    """
    fields = score.to_dict()
    if fields['signature'] == signature:
        del fields['signature']
    value = json.dumps(fields).encode()
    return value, checksum_of(value, signature, key)


def checksum_of(value: bytes, signature: str, key: bytes) -> int:
    """
    The CRC-32 of a value together with its signature and key. It includes these because
    a file may mix old and new parts, for example if it was copied during a write; an
    intact value can then end up under another pair's key.
    """
    return zlib.crc32(value, zlib.crc32(key, zlib.crc32(signature.encode())))


def decode(value: bytes, checksum: int, signature: str, key: bytes) -> Optional[Score]:
    """
    Read back what :func:`encode` returned; None if the value is damaged, or belongs to
    another pair or signature.
    """
    try:
        if checksum_of(value, signature, key) != checksum:
            return None
        score = Score.from_dict({'signature': signature, **json.loads(value)})
        # In Python, a bool is an int.
        number = isinstance(score.value, (int, float)) and not isinstance(
            score.value, bool
        )
        return score if number and math.isfinite(score.value) else None
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError):
        # It was written by a version with other fields, or by hand.
        return None
