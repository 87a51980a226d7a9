"""
Converts T5 models to CTranslate2's format and caches the result.

CTranslate2 reads only its own format. A converted model is kept in the user's cache
folder, under a name that identifies the model and how it was converted. If it is
damaged, it is converted again.
"""

import hashlib
import logging
import shutil
from pathlib import Path
from typing import Any

from parlai_q2.errors import ConfigError, ModelError
from parlai_q2.io.files import beside, cache_folder, locked
from parlai_q2.models.folder import CHECKSUMS, verify_checksums, write_checksums
from parlai_q2.models.loading import adapter_base, load_config, load_seq2seq
from parlai_q2.models.references import identified, resolve
from parlai_q2.optional import import_package
from parlai_q2.presets import ModelConfig

DIGITS = 16
# How long to wait for another process that converts the same model. Even a large model
# takes only minutes.
PATIENCE_SECONDS = 1800.0

logger = logging.getLogger(__name__)


def ctranslate2() -> Any:
    """
    Import the package.

    :raises MissingPackageError: if it is not installed.
    """
    return import_package('ctranslate2', 'ctranslate2', 'fast', 'search: ctranslate2')


def converted(config: ModelConfig, arithmetic: str) -> Path:
    """
    A model in CTranslate2's format. The first call converts it, which takes a few
    seconds.

    :param config: a preset's section; its model is a T5 or mT5, or an adapter of one.
    :param arithmetic: how the model computes, ``int8`` or ``float32``.
    :return: a folder for ``ctranslate2.Translator``, with the model's
        ``generation_config.json``.
    :raises ConfigError: if the model cannot be converted, or its generation settings
        ask for a search that CTranslate2 cannot do.
    :raises ModelNotFoundError: if the model is not here and cannot be fetched.
    :raises ModelError: if the cache folder cannot be written to.
    """
    from safetensors import SafetensorError

    folder = cache_folder() / 'ctranslate2' / _name(config, arithmetic)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with locked(folder, PATIENCE_SECONDS):
            if not _whole(folder):
                _convert(config, arithmetic, folder)
    except (OSError, SafetensorError) as e:
        # If the cache cannot be written, a model in it can still be read.
        if _whole(folder):
            return folder
        raise ModelError(
            f"Cannot keep {config.model} in CTranslate2's format in {folder}: "
            f'{e}. Set XDG_CACHE_HOME to a folder you can write to, or leave out '
            '"search: ctranslate2".'
        ) from e
    return folder


def _name(config: ModelConfig, arithmetic: str) -> str:
    base = adapter_base(config.model)
    parts = [identified(config), arithmetic, ctranslate2().__version__]
    if base is not None:
        parts.append(identified(ModelConfig(base)))
    if isinstance(resolve(config.model), str):
        parts.append(_commit(config))
    digest = hashlib.sha256('\n'.join(parts).encode()).hexdigest()[:DIGITS]
    return f'{Path(config.model).name}-{arithmetic}-{digest}'


def _commit(config: ModelConfig) -> str:
    """
    The commit of a hub model that is here, since a branch name can move to another.
    """
    from transformers.utils import cached_file

    load_config(config.model, config.revision)  # with errors that say what to do
    # The hub's cache has one folder per commit, named after it.
    path = cached_file(config.model, 'config.json', revision=config.revision)
    return Path(str(path)).parent.name


def _whole(folder: Path) -> bool:
    if not (folder / CHECKSUMS).exists():
        return False
    try:
        verify_checksums(folder)
    except (ModelError, ValueError):
        logger.warning('%s was damaged and is being made again.', folder)
        return False
    return True


def _convert(config: ModelConfig, arithmetic: str, folder: Path) -> None:
    from parlai_q2.models.engine.t5.search import ARCHITECTURES, known_settings

    package = ctranslate2()
    logger.info('Converting %s for CTranslate2. This is done once.', config.model)
    model, tokenizer = load_seq2seq(config.model, 'cpu', config.revision)
    kind = type(model).__name__
    if kind not in ARCHITECTURES or not known_settings(model.generation_config):
        raise ConfigError(
            f'CTranslate2 cannot search {config.model} exactly as the model '
            f'itself generates: it is a {kind}, where only T5 and mT5 are '
            'supported, or its generation settings ask for more than a beam '
            'search. Leave out "search: ctranslate2".'
        )
    # A fixed name, so that the next run finds and removes what a killed run left.
    unfinished = beside(folder, '.part')
    source, made = unfinished / 'source', unfinished / 'made'
    for old in (folder, unfinished):
        shutil.rmtree(old, ignore_errors=True)
    try:
        model.save_pretrained(source)
        tokenizer.save_pretrained(source)
        converter = package.converters.TransformersConverter(str(source))
        try:
            converter.convert(str(made), quantization=arithmetic)
        except (ValueError, KeyError, RuntimeError) as e:
            raise ConfigError(
                f'CTranslate2 cannot convert {config.model}: {e}. Leave out "search: '
                'ctranslate2".'
            ) from e
        model.generation_config.save_pretrained(made)
        write_checksums(made, sorted(path.name for path in made.iterdir()))
        made.rename(folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
