"""What stands beside a model file: the library's settings, and words by their ids."""

from pathlib import Path
from typing import Any, Mapping

from parlai_q2.models.folder import blaming, read_object
from parlai_q2.models.tokens import read_tokens

CONFIG = 'config.json'
# The types of what is read of a configuration, where it has them.
TYPES: dict[str, tuple[type, ...]] = {
    'add_source_bos': (bool,),
    'add_source_eos': (bool,),
    'architectures': (list,),
    'eos_token': (str,),
    'id2label': (dict,),
    'layer_norm_eps': (int, float),
    'layer_norm_epsilon': (int, float),
    'model_type': (str,),
    'multi_query_attention': (bool,),
    'pad_token_id': (int,),
}
# Values outside change scores in silence, or fail late.
RANGES: dict[str, tuple[float, float]] = {
    'layer_norm_eps': (0, 0.1),
    'layer_norm_epsilon': (0, 0.1),
    'pad_token_id': (0, 2**24),
}


def checked_config(folder: Path) -> dict[str, Any]:
    """
    A folder's configuration.

    :raises ModelError: if a field that is read has another type or an absurd value.
    """
    config = read_object(folder / CONFIG)
    with blaming(folder / CONFIG):
        for name, types in TYPES.items():
            value = config.get(name)
            if value is not None and not isinstance(value, types):
                raise ValueError(f'{name} is {str(value)[:40]!r}')
        for name, (low, high) in RANGES.items():
            value = config.get(name)
            if value is not None and not low <= value <= high:
                raise ValueError(f'{name} is {value!r}, not from {low:g} to {high:g}')
        for name in config.get('architectures') or ():
            if not isinstance(name, str):
                raise ValueError(f'architectures has {str(name)[:40]!r}')
    return config


def library_config(config: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """What the library's own converters write into ``config.json``."""
    tokens = read_tokens(folder)
    encoder = 'layer_norm_eps' in config
    found: dict[str, Any] = {
        'layer_norm_epsilon': config[
            'layer_norm_eps' if encoder else 'layer_norm_epsilon'
        ],
        'multi_query_attention': False,
        'unk_token': tokens.special['unk_token'],
        # The library's own words for these, which encoders do not use.
        'bos_token': '<s>',
        'eos_token': '</s>',
    }
    if not encoder:
        found.update(
            add_source_bos=False,
            add_source_eos=False,
            bos_token=tokens.special['pad_token'],
            decoder_start_token=tokens.word(config.get('decoder_start_token_id', 0)),
            eos_token=tokens.special['eos_token'],
        )
    return found


def words_of(folder: Path, size: int) -> list[str]:
    """The words of a tokenizer by their ids; names for ids that it does not use."""
    found = read_tokens(folder).words()
    return [found.get(n, f'<unused_{n}>') for n in range(size)]
