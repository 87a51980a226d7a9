"""Files of training rows: JSON lines, plain or compressed by gzip or xz."""

import gzip
import hashlib
import json
import lzma
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from parlai_q2.io.write import whole_file

Row = dict[str, Any]
OPENERS: dict[str, Callable[..., Any]] = {'.gz': gzip.open, '.xz': lzma.open}
# One passage in this many is held out from training.
HELD_OUT = 10


def read_rows(*paths: str | Path) -> list[Row]:
    """Read files of JSON lines; the suffix says how a file is compressed."""
    rows: list[Row] = []
    for path in paths:
        with _opener(path)(path, 'rt', encoding='utf-8') as stream:
            rows += [json.loads(line) for line in stream if line.strip()]
    return rows


def write_rows(path: str | Path, rows: Iterable[Row]) -> int:
    """Write records as JSON lines, completely or not at all; return the count."""
    path, count = Path(path), 0
    with (
        whole_file(path) as unfinished,
        _opener(path)(unfinished, 'wt', encoding='utf-8') as stream,
    ):
        for row in rows:
            stream.write(json.dumps(row, ensure_ascii=False) + '\n')
            count += 1
    return count


def passage_key(passage: str) -> str:
    """The first twelve hexadecimal digits of the SHA-256 of a passage's words."""
    text = ' '.join(passage.split())
    return hashlib.sha256(text.encode('utf-8')).hexdigest()[:12]


def is_held_out(passage: str) -> bool:
    """Whether the rows of a passage are for validation, never for training."""
    return int(passage_key(passage), 16) % HELD_OUT == 0


def _opener(path: str | Path) -> Callable[..., Any]:
    return OPENERS.get(Path(path).suffix, open)
