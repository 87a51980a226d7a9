"""
What a decoder or an adapter says of the model that it was made for: its reference, and
the SHA-256 of its list of checksums, by which another version of it is refused.
"""

from collections.abc import Callable
from pathlib import Path

from parlai_q2.errors import ModelError
from parlai_q2.io.files import file_sha256
from parlai_q2.models.folder import CHECKSUMS, read_object
from parlai_q2.models.references import resolve

BASE, BASE_SUM = 'base', 'base_sha256'


def said_of(base: str) -> dict[str, str]:
    """
    What is written of a base.

    :param base: the reference of a model in a folder with checksums.
    """
    return {BASE: base, BASE_SUM: file_sha256(Path(resolve(base)) / CHECKSUMS)}


def reference_of_base(path: Path) -> str:
    """
    The reference of the base that a file names.

    :param path: ``decoder.json`` or ``adapter.json``.
    :raises ModelError: if it names none.
    """
    reference = read_object(path).get(BASE)
    if not isinstance(reference, str):
        raise ModelError(f'{path} must name the "{BASE}" of the {path.stem}.')
    return reference


def check_version(path: Path, base: Path, required: bool = True) -> None:
    """
    Check that a base is as it was when a decoder or an adapter was made for it.

    :param path: as for :func:`reference_of_base`.
    :param required: whether the file must say the checksum.
    :raises ModelError: if it is not.
    """
    expected, listed = read_object(path).get(BASE_SUM), base / CHECKSUMS
    if not expected and not required:
        return
    if not listed.is_file() or file_sha256(listed) != expected:
        raise ModelError(
            f'{path} was made for another version of {base}: "{BASE_SUM}" is not the '
            f'SHA-256 of its {CHECKSUMS}. Reinstall parlai_q2, or train the '
            f'{path.stem} again.'
        )


def folder_of_base(
    path: Path, wanted: str, fits: Callable[[Path], bool], required: bool = True
) -> Path:
    """
    The folder of the base that a file names.

    :param wanted: what the folder should be, for messages, and ``fits`` whether it is.
    :param required: as for :func:`check_version`.
    :raises ModelError: if there is none, or it is not as it was then.
    """
    reference = reference_of_base(path)
    base = resolve(reference)
    if not isinstance(base, Path) or not fits(base):
        raise ModelError(f'{path}: there is no {wanted} {reference!r}.')
    check_version(path, base, required)
    return base
