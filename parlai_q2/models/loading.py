"""
Loads tokenizers and models for transformers, from a folder or the Hugging Face hub.

Whether the hub can be reached is tested once and briefly: its client retries failed
requests for a minute and a half.
"""

import os
import socket
import threading
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from parlai_q2.errors import (
    ConfigError,
    ModelError,
    ModelNotFoundError,
    Q2Error,
    is_out_of_memory,
)
from parlai_q2.models.converted.binary import ENCODER, SEQ2SEQ
from parlai_q2.models.converted.reader import (
    read_model,
    stored_folder,
    tokenizer_folder,
)
from parlai_q2.models.device import check_device, in_float32
from parlai_q2.models.model_files import as_model_error, folder_generation, resolve
from parlai_q2.packages import check_torch

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase
    from transformers.models.auto.auto_factory import _BaseAutoModelClass

    # One of transformers' classes AutoModelFor...
    AutoClass = type[_BaseAutoModelClass]

TIMEOUT = 3.0  # seconds
HTTP, HTTPS = 80, 443


@lru_cache(maxsize=1)
def is_reachable() -> bool:
    """Whether the hub, or the proxy on the way to it, accepts a connection."""
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE or os.environ.get('TRANSFORMERS_OFFLINE') == '1':
        return False
    url = urlsplit(constants.ENDPOINT)
    proxy = getproxies().get(url.scheme)
    if proxy and not proxy_bypass(url.hostname or ''):
        url = urlsplit(proxy if '://' in proxy else f'http://{proxy}')
    port = url.port or (HTTP if url.scheme == 'http' else HTTPS)
    return can_connect(url.hostname or '', port)


def is_cached(name: str) -> bool:
    """Whether any file of a hub model was fetched before."""
    from huggingface_hub import constants
    from huggingface_hub.file_download import repo_folder_name

    folder = repo_folder_name(repo_id=name, repo_type='model')
    return Path(constants.HF_HUB_CACHE, folder).is_dir()


def can_connect(host: str, port: int, timeout: float = TIMEOUT) -> bool:
    """
    Whether a host accepts a connection within a time, in seconds. The time includes
    looking up its address, which has no limit of its own.
    """
    connected = threading.Event()

    def connect() -> None:
        try:
            socket.create_connection((host, port), timeout).close()
            connected.set()
        except OSError:
            pass

    thread = threading.Thread(target=connect, daemon=True)
    thread.start()
    thread.join(timeout)
    return connected.is_set()


# Files of tokenizers.
VOCABULARY_FILES = ('tokenizer.json', '*vocab*', '*.model', '*.spm', '*.txt')
# Always passed to transformers, which otherwise prompts the user at the terminal.
NO_CODE = {'trust_remote_code': False}


def load_tokenizer(
    reference: str, revision: str | None = None
) -> 'PreTrainedTokenizerBase':
    """The tokenizer of a model; for an adapter, that of its base."""
    place = resolve(reference)
    if isinstance(place, Path):
        reference = str(tokenizer_folder(place))
    check_available(reference)
    from transformers import AutoTokenizer

    check_words(reference)
    return _from_pretrained(AutoTokenizer, reference, revision)


def check_available(reference: str) -> None:
    """
    Check, before torch is imported, that it is installed and a hub model available.

    :raises MissingPackageError: if torch is not installed.
    :raises ModelNotFoundError: if the model is neither here nor can be fetched.
    """
    check_torch(f'The model {reference!r}')
    place = resolve(reference)
    if isinstance(place, str) and not is_cached(place) and not is_reachable():
        raise not_loaded(reference, place)


def check_words(reference: str) -> None:
    """
    Raise ModelError if a model's folder has no vocabulary: transformers 5 would make an
    empty tokenizer.
    """
    folder = Path(resolve(reference))
    if folder.is_dir() and not any(map(list, map(folder.glob, VOCABULARY_FILES))):
        raise ModelError(
            f'Cannot load the tokenizer of {reference}: there is no tokenizer.json and '
            'no vocabulary in the folder. Save the tokenizer there, too.'
        )


def load_model(
    reference: str,
    auto_class: 'AutoClass',
    device: str = 'cpu',
    revision: str | None = None,
    **options: object,
) -> 'PreTrainedModel':
    """
    Load a model in evaluation mode, in fp32, with gradients off.

    :param auto_class: one of transformers' ``AutoModelFor...`` classes.
    :param options: other options for ``from_pretrained``, e.g. ``num_labels`` for a new
        classifier; not for converted models or int8 weights.
    :raises ModelNotFoundError: if the model is not here and cannot be fetched.
    :raises ModelError: if its files cannot be read or do not fit.
    :raises ConfigError: if the device does not exist.
    """
    check_device(device)
    folder = stored_folder(reference)
    check_available(reference)
    if folder is not None:
        if options:
            raise ConfigError(
                f'{reference!r} has stored weights, which are loaded as they are: '
                f'{", ".join(options)} cannot be changed. Name a model that '
                'save_pretrained wrote.'
            )
        from parlai_q2.models.converted.convert import as_transformers

        expected = SEQ2SEQ if 'Seq2Seq' in auto_class.__name__ else ENCODER
        with in_float32(), as_model_error(folder):
            converted = read_model(folder, expected)
            model = as_transformers(converted, auto_class)
            if model.can_generate():
                generation = folder_generation(converted.tokenizer, model.config)
                model.generation_config = generation
    else:
        with in_float32():
            model = _from_pretrained(auto_class, reference, revision, **options)
    return model.float().to(device).eval().requires_grad_(False)


def load_seq2seq(
    reference: str, device: str = 'cpu', revision: str | None = None
) -> tuple['PreTrainedModel', 'PreTrainedTokenizerBase']:
    """
    Load an encoder-decoder in fp32, and its tokenizer. A folder may have an adapter
    instead of weights, whose ``adapter.json`` names the model that it belongs to.
    """
    check_device(device)
    tokenizer = load_tokenizer(reference, revision)
    from transformers import AutoModelForSeq2SeqLM

    return load_model(reference, AutoModelForSeq2SeqLM, device, revision), tokenizer


def _from_pretrained(
    auto_class: 'AutoClass', reference: str, revision: str | None, **options: Any
) -> Any:
    place = resolve(reference)
    if isinstance(place, str):
        if revision:  # a local folder has no revision
            options['revision'] = revision
        if not is_reachable():
            options['local_files_only'] = True
            # Otherwise transformers looks on the hub for an adapter of the model.
            if hasattr(auto_class, '_model_mapping'):
                options['adapter_kwargs'] = {'local_files_only': True}
    try:
        return auto_class.from_pretrained(place, **NO_CODE, **options)
    except Q2Error:
        raise
    except Exception as e:
        if is_out_of_memory(e):
            raise  # this is not the files' fault
        if _brings_code(place):
            raise ModelError(
                f'{reference!r} comes with Python code of its own, which is never '
                'run. Use a model whose architecture transformers has.'
            ) from e
        # The libraries raise all sorts of errors for damaged or unsuitable files.
        if isinstance(place, str) and not isinstance(e, (OSError, ValueError)):
            raise
        raise not_loaded(reference, place, e) from e


def _brings_code(place: Path | str) -> bool:
    """Whether a model needs code of its own, since transformers has no class for it."""
    from transformers import CONFIG_MAPPING, PretrainedConfig

    offline = isinstance(place, str) and not is_reachable()
    try:
        config, _ = PretrainedConfig.get_config_dict(place, local_files_only=offline)
    except Exception:  # all sorts of errors, as above
        return False
    return 'auto_map' in config and config.get('model_type') not in CONFIG_MAPPING


def not_loaded(
    reference: str, place: Path | str, cause: Exception | None = None
) -> ModelError:
    """The error for a model that exists but cannot be loaded, or does not exist."""
    if isinstance(place, Path):
        reason = f'{type(cause).__name__}: {cause}'
        return ModelError(f'Cannot load {reference!r} from {place}: {reason}')
    if cause is not None and is_reachable():
        reason = f'could not be fetched: {str(cause).splitlines()[0]}'
    else:
        reason = 'the hub cannot be reached'
    return ModelNotFoundError(
        f'{reference!r} is not in the local Hugging Face cache, and {reason}. Check '
        'the name and the network, or copy the model to a folder and give that folder, '
        'or use the preset "mini", which needs no network.'
    )
