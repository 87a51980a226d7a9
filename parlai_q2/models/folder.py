"""
Model references, the identity of the weights behind them, and the files of a model's
folder. A reference is one of

- ``shipped:q2_mini/question_generation``: a folder of ``parlai_q2.zoo``;
- a path to a folder that ``save_pretrained`` wrote, or one with int8 weights;
- a Hugging Face hub name such as ``roberta-large``, fetched on first use.

Signatures identify a folder by a hash of its files, and a hub model by its revision. If
a folder lists checksums, only the listed files are read: any other file would change
results without changing the model's identity.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from parlai_q2.errors import ModelError, ModelNotFoundError, Q2Error, is_out_of_memory
from parlai_q2.io.files import file_sha256
from parlai_q2.json_values import JsonObject
from parlai_q2.presets import ModelConfig

SHIPPED = 'shipped:'
DIGITS = 8
# Files that can affect a model's results, and files from training that cannot.
ENDINGS = ('.safetensors', '.bin', '.json', '.txt', '.model')
BESIDE = (
    'all_results.json',
    'eval_results.json',
    'optimizer.bin',
    'scheduler.bin',
    'train_results.json',
    'trainer_state.json',
    'training.json',
    'training_args.bin',
)


def shipped_folder(name: str) -> Path:
    """The folder of a shipped model, by its path below ``parlai_q2.zoo``."""
    folder = Path(str(files('parlai_q2.zoo'))) / name
    if not folder.is_dir():
        raise ModelNotFoundError(
            f'The shipped model {name!r} is not in {folder.parent}. The installation '
            'is incomplete; reinstall parlai_q2.'
        )
    return folder


def resolve(reference: str) -> Path | str:
    """A reference's local folder, as a ``Path``, or otherwise its hub name."""
    if reference.startswith(SHIPPED):
        return shipped_folder(reference[len(SHIPPED) :])
    path = Path(reference).expanduser()
    if path.is_dir():
        return path
    if reference.startswith(('/', '.', '~')) or reference.count('/') > 1:
        raise ModelNotFoundError(
            f'There is no folder {path}. Give a folder that save_pretrained wrote, or '
            'a Hugging Face hub name such as roberta-large.'
        )
    return reference


def identified(config: ModelConfig) -> str:
    """
    A model reference with its revision or, for a folder, a hash of its contents.

    :return: for example ``roberta-large@main`` or
        ``shipped:q2_mini/consistency@1f0a9c3e``; the reference alone for a hub model
        without a revision, or a folder that does not exist.
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
        if path.suffix in ENDINGS and path.name not in BESIDE and path.is_file()
        for stat in [os.stat(path)]
    )
    return f'{config.model}@{_digest(stamps)}'


@lru_cache(maxsize=64)
def _digest(stamps: tuple[tuple[str, int, int], ...]) -> str:
    digest = hashlib.sha256()
    for name, _, _ in stamps:
        path = Path(name)
        digest.update(f'{path.name} {file_sha256(path)}\n'.encode())
    return digest.hexdigest()[:DIGITS]


CHECKSUMS = 'sha256.json'
# The file with int8 weights in a folder.
INT8_WEIGHTS = 'model.int8.safetensors'
# The largest configuration, vocabulary or tokenizer that is read, in bytes.
LARGEST_TEXT = 256 * 2**20


@contextmanager
def as_model_error(path: Path) -> Iterator[None]:
    """Turn all errors that libraries raise for a damaged file into a ModelError."""
    try:
        yield
    except Q2Error:
        raise
    except Exception as e:
        if is_out_of_memory(e):
            raise  # this is not the file's fault
        reason = ' '.join(str(e).split())
        raise ModelError(f'Cannot load {path}: {type(e).__name__}: {reason}') from e


def read_object(path: Path) -> JsonObject:
    """Read a JSON file that contains an object; anything else is a ModelError."""
    with as_model_error(path):
        content = json.loads(read_text(path))
    if not isinstance(content, dict):
        raise ModelError(f'Cannot load {path}: it must contain an object.')
    return content


def read_text(path: Path) -> str:
    """
    The text of a regular file.

    :raises ModelError: if it is no regular file, or larger than :data:`LARGEST_TEXT`.
    """
    check_regular(path)
    size = path.stat().st_size
    if size > LARGEST_TEXT:
        raise ModelError(
            f'Cannot load {path}: it has {size:,} bytes; at most {LARGEST_TEXT:,} are '
            'read.'
        )
    return path.read_text(encoding='utf-8')


def check_regular(path: Path) -> None:
    """Raise ModelError for a pipe, device or the like, whose reading may never end."""
    if path.exists() and not path.is_file():
        raise ModelError(f'Cannot load {path}: it is not a regular file.')


def check_entries(folder: Path) -> None:
    """Apply :func:`check_regular` to all entries of a folder, except folders."""
    for path in folder.iterdir():
        if not path.is_dir():
            check_regular(path)


def listed_files(folder: Path) -> dict[str, str] | None:
    """The files of a folder that may be read, with checksums; None without a list."""
    path = folder / CHECKSUMS
    if not path.exists():
        return None
    listed = read_object(path)
    for name, checksum in listed.items():
        if not isinstance(checksum, str) or Path(name).name != name:
            raise ModelError(
                f'{path} must map the names of files in its folder to their SHA-256, '
                f'but has {name!r}: {str(checksum)[:80]!r}. Reinstall parlai_q2.'
            )
    return listed


def has_file(folder: Path, name: str) -> bool:
    """Whether a folder has a file that may be read; a ModelError if not regular."""
    check_regular(folder / name)
    listed = listed_files(folder)
    return (folder / name).exists() and (listed is None or name in listed)


@contextmanager
def only_listed(folder: Path) -> Iterator[Path]:
    """
    Yield a folder without unlisted files, for libraries that read all files: the folder
    itself if it has none, otherwise a temporary one.
    """
    listed = listed_files(folder)
    if listed is None or {p.name for p in folder.iterdir()} <= {*listed, CHECKSUMS}:
        yield folder
        return
    with TemporaryDirectory(prefix='parlai_q2_') as temporary:
        for name in listed:
            if (folder / name).exists():
                try:
                    (Path(temporary) / name).symlink_to((folder / name).resolve())
                except OSError:  # a system without links
                    shutil.copyfile(folder / name, Path(temporary) / name)
        yield Path(temporary)


def folder_generation(folder: Path, config: object) -> Any:
    """A folder's ``GenerationConfig``; without a file, that of its configuration."""
    from transformers.generation.configuration_utils import GenerationConfig

    if not has_file(folder, 'generation_config.json'):
        return GenerationConfig.from_model_config(config)
    with as_model_error(folder / 'generation_config.json'):
        return GenerationConfig.from_pretrained(folder)


def verify_checksums(folder: Path) -> None:
    """
    Check a folder's files against its ``sha256.json``, if it has one.

    :raises ModelError: if a file is missing or differs, or the list cannot be read.
    """
    for name, expected in (listed_files(folder) or {}).items():
        path = folder / name
        if not path.is_file():
            raise ModelError(f'{path} is missing. Reinstall parlai_q2.')
        if file_sha256(path) != expected:
            raise ModelError(
                f'{path} was changed or cut short: its SHA-256 differs from the one in '
                f'{CHECKSUMS}. Reinstall parlai_q2, or run "git checkout" in a clone.'
            )


def write_checksums(folder: Path, names: Iterable[str]) -> None:
    """Write the ``sha256.json`` that :func:`verify_checksums` checks."""
    sums = {name: file_sha256(folder / name) for name in names}
    (folder / CHECKSUMS).write_text(json.dumps(sums, indent=2) + '\n')
