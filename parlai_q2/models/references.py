"""
Model references, and the identity of the weights behind them. A reference is one of

- ``shipped:q2_mini/question_generation``: a folder of ``parlai_q2.zoo``;
- a path to a folder that ``save_pretrained`` wrote, or one with int8 weights;
- a Hugging Face hub name such as ``roberta-large``, fetched on first use.

Signatures identify a folder by a hash of its files, and a hub model by its revision.
"""

import hashlib
import os
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from parlai_q2.errors import ModelNotFoundError
from parlai_q2.io.files import file_sha256
from parlai_q2.models.folder import CHECKSUMS
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
