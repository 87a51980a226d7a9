"""
A row of a score file: its key, and a score as its value.
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
    The SHA-256 of knowledge and response; where one ends is part of it.
    """
    knowledge, response = (text.encode('utf-8', 'surrogatepass') for text in pair)
    return hashlib.sha256(b'%d:' % len(knowledge) + knowledge + response).digest()


def encode(score: Score, signature: str, key: bytes) -> tuple[bytes, int]:
    """
    A score as JSON, and its checksum.

    :param signature: what the score is filed under; it is not repeated in the JSON.
    :param key: of its pair.
    """
    fields = score.to_dict()
    if fields['signature'] == signature:
        del fields['signature']
    value = json.dumps(fields).encode()
    return value, checksum_of(value, signature, key)


def checksum_of(value: bytes, signature: str, key: bytes) -> int:
    """
    The CRC-32 of a value and of what it is filed under: in a file whose parts are of
    different times, such as a copy that was made while somebody wrote, a sound value
    can stand in another's place.
    """
    return zlib.crc32(value, zlib.crc32(key, zlib.crc32(signature.encode())))


def decode(value: bytes, checksum: int, signature: str, key: bytes) -> Optional[Score]:
    """
    Read back what :func:`encode` gave; None for a value that is not whole, or not of
    this pair and recipe.
    """
    try:
        if checksum_of(value, signature, key) != checksum:
            return None
        score = Score.from_dict({'signature': signature, **json.loads(value)})
        # Python takes a bool for an int.
        number = isinstance(score.value, (int, float)) and not isinstance(
            score.value, bool
        )
        return score if number and math.isfinite(score.value) else None
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError):
        # Written by code whose records had other fields, or by hand.
        return None
