"""
Checksums of files.
"""

import hashlib
from pathlib import Path
from typing import Union


def file_sha256(path: Union[str, Path]) -> str:
    """
    The SHA-256 of a file's bytes, in hexadecimal.
    """
    digest = hashlib.sha256()
    with open(path, 'rb') as stream:
        for block in iter(lambda: stream.read(1 << 20), b''):
            digest.update(block)
    return digest.hexdigest()
