"""
Reads and writes training files: JSON lines, plain or compressed with gzip or xz.
"""

import gzip
import json
import lzma
from pathlib import Path
from typing import Any, Callable, Iterable, Union

from parlai_q2.io.write import whole_file

OPENERS: dict[str, Callable] = {'.gz': gzip.open, '.xz': lzma.open}


def read_rows(path: Union[str, Path], sources: str = '') -> list[dict[str, Any]]:
    """
    Read the records of a JSON lines file.

    :param path: the file; its ending says how it is compressed.
    :param sources: comma-separated ``src`` values: take only their records.
    :return: one dict for each line, in file order.
    """
    with _opener(path)(path, 'rt', encoding='utf-8') as stream:
        rows = [json.loads(line) for line in stream if line.strip()]
    wanted = set(filter(None, sources.split(',')))
    return [row for row in rows if row['src'] in wanted] if wanted else rows


def write_rows(path: Union[str, Path], rows: Iterable[dict[str, Any]]) -> int:
    """
    Write records as a JSON lines file, completely or not at all.

    :param path: the file; its ending says how it is compressed.
    :param rows: the records.
    :return: how many records there were.
    """
    path, count = Path(path), 0
    with whole_file(path) as unfinished:
        with _opener(path)(unfinished, 'wt', encoding='utf-8') as stream:
            for row in rows:
                stream.write(json.dumps(row, ensure_ascii=False) + '\n')
                count += 1
    return count


def _opener(path: Union[str, Path]) -> Callable:
    return next((o for end, o in OPENERS.items() if str(path).endswith(end)), open)
