"""
Reads training files: JSON lines, plain or compressed with gzip or xz.
"""

import gzip
import json
import lzma
from typing import Any

OPENERS = {'.gz': gzip.open, '.xz': lzma.open}


def read_rows(path: str) -> list[dict[str, Any]]:
    """
    All records of a JSON lines file.

    :param path: the file; its ending says how it is compressed.
    :return: one dict a line, in file order.
    """
    opener = next((o for end, o in OPENERS.items() if str(path).endswith(end)), open)
    with opener(path, 'rt', encoding='utf-8') as stream:
        return [json.loads(line) for line in stream if line.strip()]
