"""
Finds and loads tokenizers and models: shipped, in a local folder, or on the hub.

Nothing here runs code from a model's folder: ``trust_remote_code`` is off, and weights
are read from safetensors or, if a hub model has only older files, by torch's
``weights_only`` reader.
"""

from pathlib import Path
from typing import Any, Optional, Union

from parlai_q2.errors import (
    ConfigError,
    ModelError,
    ModelNotFoundError,
    is_out_of_memory,
)
from parlai_q2.models.converted.base import check_version, reference_of_base
from parlai_q2.models.converted.folder import has_any, is_converted, read_any
from parlai_q2.models.converted.from_adapter import ADAPTER, WEIGHTS, has_adapter
from parlai_q2.models.converted.from_decoder import base_of, has_decoder
from parlai_q2.models.converted.layout import ENCODER, SEQ2SEQ
from parlai_q2.models.device import check_device, in_float32
from parlai_q2.models.folder import (
    INT8_WEIGHTS,
    blaming,
    folder_generation,
    has_file,
    only_listed,
    verify_checksums,
)
from parlai_q2.models.references import resolve
from parlai_q2.packages import check_torch

# Files of tokenizers.
WORDS = ('tokenizer.json', '*vocab*', '*.model', '*.spm', '*.txt')
# Always passed to transformers, which otherwise prompts the user at the terminal.
NO_CODE: dict[str, Any] = {'trust_remote_code': False}


def load_tokenizer(reference: str, revision: Optional[str] = None) -> Any:
    """The tokenizer of a model; for an adapter or a decoder, that of its base."""
    place = resolve(reference)
    if isinstance(place, Path) and has_decoder(place):
        base = str(base_of(place))
    else:
        base = adapter_base(reference) or reference
    check_torch(f'The model {reference!r}')
    from transformers import AutoTokenizer

    check_words(base)
    return _from_pretrained(AutoTokenizer, base, revision)


def check_words(reference: str) -> None:
    """
    A ModelError if a model's folder has no words: transformers 5 would make a tokenizer
    that knows none.
    """
    folder = Path(resolve(reference))
    if folder.is_dir() and not any(map(list, map(folder.glob, WORDS))):
        raise ModelError(
            f'Cannot load the tokenizer of {reference}: there is no tokenizer.json and '
            'no vocabulary in the folder. Save the tokenizer there, too.'
        )


def load_model(
    reference: str,
    auto_class: Any,
    device: str = 'cpu',
    revision: Optional[str] = None,
    **options: Any,
) -> Any:
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
    check_torch(f'The model {reference!r}')
    if folder is not None:
        if options:
            raise ConfigError(
                f'{reference!r} has stored weights, which are loaded as they are: '
                f'{", ".join(options)} cannot be changed. Name a model that '
                'save_pretrained wrote.'
            )
        with in_float32(), blaming(folder):
            if has_file(folder, INT8_WEIGHTS) and not is_converted(folder):
                model = _load_quantised(folder, auto_class)
            else:
                model = _load_converted(folder, auto_class)
    else:
        with in_float32():
            model = _from_pretrained(auto_class, reference, revision, **options)
    return model.float().to(device).eval().requires_grad_(False)


def load_seq2seq(
    reference: str, device: str = 'cpu', revision: Optional[str] = None
) -> tuple[Any, Any]:
    """
    Load an encoder-decoder in fp32, and its tokenizer. A folder may have an adapter
    instead of weights, whose ``adapter.json`` names the model that it belongs to.
    """
    check_torch(f'The model {reference!r}')
    from transformers import AutoModelForSeq2SeqLM

    from parlai_q2.models.int8_weights import load_int8
    from parlai_q2.models.lora import merge_adapter

    check_device(device)
    tokenizer = load_tokenizer(reference, revision)
    base = adapter_base(reference)
    if base is None:
        return load_model(reference, AutoModelForSeq2SeqLM, device, revision), tokenizer
    folder = Path(resolve(reference))
    verify_checksums(folder)
    model = load_model(base, AutoModelForSeq2SeqLM)
    with blaming(folder):
        merge_adapter(model, load_int8(folder / WEIGHTS))
    return model.to(device), tokenizer


def adapter_base(reference: str) -> Optional[str]:
    """The reference of an adapter's base model; None if this is not an adapter."""
    place = resolve(reference)
    if not isinstance(place, Path) or not has_adapter(place):
        return None
    path = place / ADAPTER
    base = reference_of_base(path)
    folder = resolve(base)
    if isinstance(folder, Path):  # of one on the hub there are no checksums
        check_version(path, folder, required=False)
    return base


def stored_folder(reference: str) -> Optional[Path]:
    """The folder of a converted model or of int8 weights; None for any other model."""
    place = resolve(reference)
    return place if isinstance(place, Path) and has_any(place) else None


def _load_converted(folder: Path, auto_class: Any) -> Any:
    from parlai_q2.models.converted.to_torch import as_transformers

    wanted = SEQ2SEQ if 'Seq2Seq' in auto_class.__name__ else ENCODER
    converted = read_any(folder, wanted)
    assert converted is not None
    return as_transformers(converted, auto_class)


def _load_quantised(folder: Path, auto_class: Any) -> Any:
    import torch
    import transformers

    from parlai_q2.models.int8_weights import load_int8

    verify_checksums(folder)
    with only_listed(folder) as place:
        config = transformers.AutoConfig.from_pretrained(place, **NO_CODE)
    # Otherwise transformers 5 would round the weights to the type in config.json.
    config.dtype = torch.float32
    # Only the concrete class, not the auto class, takes a state dict without a folder.
    # Look up a single entry of the mapping: iterating over it would import all models.
    architecture = (config.architectures or ['nothing'])[0]
    mapped = auto_class._model_mapping.get(type(config), ())
    classes: Any = mapped if isinstance(mapped, (tuple, list)) else (mapped,)
    model_class = next((c for c in classes if c.__name__ == architecture), None)
    if model_class is None:
        raise ModelError(
            f'{folder}/config.json names the architecture {architecture!r}, which '
            f'is none of {auto_class.__name__}.'
        )
    model, info = model_class.from_pretrained(
        None,
        config=config,
        state_dict=load_int8(folder / INT8_WEIGHTS),
        # Mismatches are reported below, by an error that names the file.
        ignore_mismatched_sizes=True,
        output_loading_info=True,
    )
    if info['missing_keys'] or info['mismatched_keys']:
        wrong = sorted(info['missing_keys']) or sorted(
            map(str, info['mismatched_keys'])
        )
        raise ModelError(
            f'{folder / INT8_WEIGHTS} does not fit its config.json: {wrong[0]} is '
            'missing or of another shape.'
        )
    if model.can_generate():
        model.generation_config = folder_generation(folder, config)
    return model


def _from_pretrained(
    auto_class: Any, reference: str, revision: Optional[str], **options: Any
) -> Any:
    place = resolve(reference)
    # A local folder has no revisions.
    if revision and isinstance(place, str):
        options['revision'] = revision
    try:
        if isinstance(place, str):
            return auto_class.from_pretrained(place, **NO_CODE, **options)
        with only_listed(place) as local:
            return auto_class.from_pretrained(local, **NO_CODE, **options)
    except Exception as e:
        if is_out_of_memory(e):
            raise  # not the fault of the files
        if _brings_code(place):
            raise ModelError(
                f'{reference!r} comes with Python code of its own, which is never '
                'run. Use a model whose architecture transformers has.'
            ) from e
        # The libraries raise all sorts of errors for damaged or unsuitable files.
        if isinstance(place, str) and not isinstance(e, (OSError, ValueError)):
            raise
        raise not_loaded(reference, place, e) from e


def _brings_code(place: Union[Path, str]) -> bool:
    """Whether transformers has no class for a model, which names code of its own."""
    from transformers import CONFIG_MAPPING, PretrainedConfig

    try:
        said, _ = PretrainedConfig.get_config_dict(place)
    except Exception:  # as above, of all sorts
        return False
    return 'auto_map' in said and said.get('model_type') not in CONFIG_MAPPING


def not_loaded(reference: str, place: Union[Path, str], cause: Exception) -> ModelError:
    """The error for a model that is at a place but cannot be loaded, or is nowhere."""
    if isinstance(place, Path):
        said = f'{type(cause).__name__}: {cause}'
        return ModelError(f'Cannot load {reference!r} from {place}: {said}')
    return ModelNotFoundError(
        f'{reference!r} is not in the local Hugging Face cache and could not be '
        'fetched from the hub. Connect once to fetch it, or copy the model to a '
        'folder and name the folder in its place, or use the preset "mini", which '
        f'needs no network. Cause: {str(cause).splitlines()[0]}'
    )
