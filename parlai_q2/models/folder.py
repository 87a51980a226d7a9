"""
Reads a model's folder: its configuration, its checksums, its tokenizer.
"""

import json
from pathlib import Path
from typing import Any, Iterable

from parlai_q2.errors import ModelError
from parlai_q2.io.files import file_sha256

CHECKSUMS = 'sha256.json'
# For loading tokenizers without their own classes: which classes this works for, and
# which settings to take from their configuration in addition to special tokens.
TOKENIZERS = ('BertTokenizer', 'BertTokenizerFast', 'PreTrainedTokenizerFast')
TOKENIZER_SETTINGS = (
    'clean_up_tokenization_spaces',
    'model_max_length',
    'model_input_names',
)
# The default inputs of BERT's own classes; for the general class, transformers 5 leaves
# out token_type_ids.
BERT_INPUTS = ('input_ids', 'token_type_ids', 'attention_mask')
MORE_OF_TOKENIZERS = ('special_tokens_map.json', 'added_tokens.json')
BERT_NORMALIZER = (
    ('do_lower_case', 'lowercase'),
    ('strip_accents', 'strip_accents'),
    ('tokenize_chinese_chars', 'handle_chinese_chars'),
)


def folder_config(folder: Path) -> Any:
    """
    Read a model folder's configuration without importing its model's own class.

    :param folder: a model folder.
    :return: a ``PretrainedConfig`` with the contents of ``config.json``.
    :raises ModelError: if the file cannot be read.
    """
    from transformers.configuration_utils import PretrainedConfig

    path = folder / 'config.json'
    try:
        return PretrainedConfig.from_dict(json.loads(path.read_text(encoding='utf-8')))
    except (OSError, ValueError, TypeError, AttributeError) as e:
        raise ModelError(f'Cannot load {path}: {e}') from e


def folder_generation(folder: Path, config: Any) -> Any:
    """
    Read the generation settings of a model folder.

    :param folder: a model folder.
    :param config: its configuration, used if there is no file of generation settings.
    :return: a ``GenerationConfig``.
    :raises ModelError: if the file cannot be read.
    """
    from transformers.generation.configuration_utils import GenerationConfig

    path = folder / 'generation_config.json'
    if not path.exists():
        return GenerationConfig.from_model_config(config)
    try:
        return GenerationConfig.from_pretrained(folder)
    except (OSError, ValueError, TypeError, AttributeError) as e:
        raise ModelError(f'Cannot load {path}: {e}') from e


def verify_checksums(folder: Path) -> None:
    """
    Check a folder's files against its ``sha256.json``, if it has one.

    :param folder: a model folder. Its ``sha256.json`` maps file names to checksums.
    :raises ModelError: if a file is missing or differs.
    """
    listed = folder / CHECKSUMS
    if not listed.exists():
        return
    for name, expected in json.loads(listed.read_text()).items():
        path = folder / name
        if not path.exists():
            raise ModelError(f'{path} is missing. Reinstall parlai_q2.')
        if file_sha256(path) != expected:
            raise ModelError(
                f'{path} was changed or cut short: its SHA-256 differs from the one in '
                f'{CHECKSUMS}. Reinstall parlai_q2, or run "git checkout" in a clone.'
            )


def write_checksums(folder: Path, names: Iterable[str]) -> None:
    """
    Write the ``sha256.json`` that :func:`verify_checksums` checks.

    :param folder: a model folder.
    :param names: the names of the files to list, in order.
    """
    sums = {name: file_sha256(folder / name) for name in names}
    (folder / CHECKSUMS).write_text(json.dumps(sums, indent=2) + '\n')


def stored_tokenizer(folder: Path) -> Any:
    """
    Load a tokenizer equal to the auto class's, without the second of imports that the
    auto class takes. None if the folder has settings that this does not handle.
    """
    from transformers import PreTrainedTokenizerFast

    try:
        said = json.loads((folder / 'tokenizer_config.json').read_text('utf-8'))
        options = {n: v for n, v in said.items() if n.endswith('_token')}
        plain = (
            said.get('tokenizer_class') in TOKENIZERS
            and all(v is None or isinstance(v, str) for v in options.values())
            and not any((folder / name).exists() for name in MORE_OF_TOKENIZERS)
        )
        if not plain:
            return None
        general = said['tokenizer_class'] == 'PreTrainedTokenizerFast'
        if not general:
            options['model_input_names'] = list(BERT_INPUTS)
        options.update({n: said[n] for n in TOKENIZER_SETTINGS if n in said})
        file = folder / 'tokenizer.json'
        tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(file), **options)
    except Exception:  # the library raises a bare Exception for an unreadable file
        return None  # the auto class will raise a better error
    if general:
        return tokenizer
    # BERT's own class overrides the file's settings by these.
    has = json.loads(tokenizer.backend_tokenizer.normalizer.__getstate__())
    same = all(said.get(ours) == has.get(theirs) for ours, theirs in BERT_NORMALIZER)
    return tokenizer if same else None
