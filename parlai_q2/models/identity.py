"""
Which weights a model reference stands for, in signatures.

A folder's name stays when the model in it is trained again or replaced, so a few digits
of what its files hold go with it. Hub models have their revision.
"""

import hashlib
import os
from functools import lru_cache
from pathlib import Path

from parlai_q2.errors import ModelNotFoundError
from parlai_q2.models.loading import CHECKSUMS, resolve
from parlai_q2.presets import ModelConfig

DIGITS = 8
# What decides a model's numbers; logs of its training and the like do not.
ENDINGS = ('.safetensors', '.bin', '.json', '.txt', '.model')
# Of a large file, so many blocks of so many bytes: training moves all weights.
BLOCKS, BLOCK = 64, 4096


def identified(config: ModelConfig) -> str:
    """
    A model reference with its revision or, for a folder, digits of its contents.

    :param config: a preset's section.
    :return: such as ``roberta-large@main`` or ``shipped:q2_mini/consistency@1f0a9c3e``;
        the reference alone for what is not here.
    """
    try:
        place = resolve(config.model)
    except ModelNotFoundError:
        return config.reference
    if not isinstance(place, Path):
        return config.reference
    listed = place / CHECKSUMS
    read = [listed] if listed.is_file() else sorted(place.iterdir())
    stamps = tuple(
        (str(path), stat.st_size, stat.st_mtime_ns)
        for path in read
        if path.suffix in ENDINGS and path.is_file()
        for stat in [os.stat(path)]
    )
    return f'{config.model}@{_digest(stamps)}'


@lru_cache(maxsize=64)
def _digest(stamps: tuple[tuple[str, int, int], ...]) -> str:
    digest = hashlib.sha256()
    for name, size, _ in stamps:
        path = Path(name)
        digest.update(f'{path.name} {size}\n'.encode())
        with open(path, 'rb') as stream:
            if size <= BLOCKS * BLOCK:
                digest.update(stream.read())
                continue
            for n in range(BLOCKS):
                stream.seek(n * (size - BLOCK) // (BLOCKS - 1))
                digest.update(stream.read(BLOCK))
    return digest.hexdigest()[:DIGITS]
