"""
Model references, the identity of the weights behind them, and the files of a model's
folder. A reference is one of

- ``shipped:q2_mini/question_generation``: a folder of ``parlai_q2.zoo``;
- a path to a folder that ``save_pretrained`` wrote, or one with int8 weights;
- a Hugging Face hub name such as ``roberta-large``, fetched on first use.

Signatures identify a folder by a hash of its files, and a hub model by its revision. If
a folder lists checksums, they stand for its files: weights and configurations that are
not listed are not read. (transformers reads any file of a tokenizer that it finds.)
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
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
    if path.exists() and not path.is_file():
        # Reading a pipe or device may never end.
        raise ModelError(f'Cannot load {path}: it is not a regular file.')
    with as_model_error(path):
        content = json.loads(path.read_text(encoding='utf-8'))
    if not isinstance(content, dict):
        raise ModelError(f'Cannot load {path}: it must contain an object.')
    return content


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
    """Whether a folder has a regular file that may be read."""
    listed = listed_files(folder)
    return (folder / name).is_file() and (listed is None or name in listed)


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
