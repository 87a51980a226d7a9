"""
Identifies what a run was made from, so that no other run resumes its checkpoint.
"""

import hashlib
import json
from pathlib import Path
from typing import Any, Iterable, Union

from parlai_q2.errors import ConfigError
from parlai_q2.io.files import file_sha256
from parlai_q2.models.identity import ENDINGS
from parlai_q2.models.loading import resolve


def model_identity(reference: str) -> Union[str, dict[str, str]]:
    """
    What identifies an initial model.

    :param reference: a model reference.
    :return: the SHA-256 of each of its files, wherever the folder is; for a hub model,
        its name.
    """
    place = resolve(reference)
    if not isinstance(place, Path):
        return reference
    return {
        path.name: file_sha256(path)
        for path in sorted(place.iterdir())
        if path.suffix in ENDINGS and path.is_file()
    }


def rows_identity(rows: Iterable[Any]) -> str:
    """
    The SHA-256 of rows that have no file of their own.
    """
    digest = hashlib.sha256()
    for row in rows:
        digest.update(json.dumps(row).encode() + b'\n')
    return digest.hexdigest()


def check_apart(written: Path, source: Union[Path, str, None]) -> None:
    """
    Make sure that a run does not overwrite what it starts from, which would keep it
    from resuming.

    :param written: the file or folder that is written.
    :param source: what is read, if anything; a hub name is never overwritten.
    :raises ConfigError: when the two are the same.
    """
    if isinstance(source, Path) and source.resolve() == written.resolve():
        raise ConfigError(
            f'Training starts from {source}, which would be overwritten. Choose '
            'another --outdir.'
        )
