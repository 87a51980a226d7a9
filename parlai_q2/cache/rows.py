"""Converts between scores and the rows of the score cache."""

import hashlib
import json
import zlib
from typing import Any, Optional

from parlai_q2.io.strict_json import is_number
from parlai_q2.records import Score

Pair = tuple[str, str]


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
    The CRC-32 of a value together with its signature and key. It includes these because
    a file may mix old and new parts, for example if it was copied during a write; an
    intact value can then end up under another pair's key.
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
        score = Score.from_dict({'signature': signature, **json.loads(value)})
        return score if _is_score(score) else None
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        # It was written by a version with other fields, or by hand.
        return None


def _is_score(score: Score) -> bool:
    verdicts = score.verdicts
    spans = [
        span
        for verdict in verdicts
        for span in (verdict.response_answer, verdict.knowledge_answer)
        if span is not None
    ]
    spans += [s.span for s in score.statements]
    spans += [e.sentence for s in score.statements for e in s.evidence]
    places = [e.passage for s in score.statements for e in s.evidence]
    places += [v.passage for v in verdicts if v.passage is not None]
    texts = [score.label, score.signature, *(span.text for span in spans)]
    texts += [text for v in verdicts for text in (v.question, v.comparison)]
    texts += [s.label for s in score.statements]
    units = [score.value, *(n for v in verdicts for n in (v.score, v.f1))]
    units += [s.score for s in score.statements]
    return (
        all(isinstance(text, str) for text in texts)
        and all(is_number(unit) and 0 <= unit <= 1 for unit in units)
        and all(type(n) is int for span in spans for n in (span.start, span.end))
        and all(type(n) is int for n in places)
        and all(map(is_number, score.parts.values()))
        and isinstance(score.fallback, bool)
    )
