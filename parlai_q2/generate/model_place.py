"""
Finds and checks a model in CTranslate2's format: an encoder-decoder or a decoder.
Before native code reads a model file, its names and sizes are checked in Python.
"""

import json
import mmap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from parlai_q2.errors import ConfigError, ModelError
from parlai_q2.json_values import JsonObject
from parlai_q2.models.converted import binary
from parlai_q2.models.converted.reader import MODEL_FILE
from parlai_q2.models.device import check_name
from parlai_q2.models.model_files import read_object

COMPUTE_TYPES = (
    'default, auto, int8, int8_float32, int8_float16, int8_bfloat16, int16, float16, '
    'bfloat16, float32'
)
CONVERT = (
    'Convert one: ct2-transformers-converter --model NAME --output_dir FOLDER '
    '--quantization int8 --copy_files tokenizer.json tokenizer_config.json'
)
# The file with the tokens that may be written for a context; other tokens are not
# computed. The converter copies such a file.
VOCABULARY_MAP = 'vmap.txt'
# CTranslate2's class for each kind of model.
DECODER = 'Generator'
CLASSES = {'TransformerSpec': 'Translator', 'TransformerDecoderSpec': DECODER}
# The table of learned positions, whose rows limit the context.
POSITIONS = 'decoder/position_encodings/encodings'


@dataclass(frozen=True)
class ModelPlace:
    """
    The place of a model, and how to run it.

    :param folder: a folder that CTranslate2's converter wrote, or a name for ``files``.
    :param device: ``cpu``, ``cuda``, ``cuda:1`` or ``auto``.
    :param compute_type: a type of CTranslate2; ``default`` is the stored one.
    :param files: the model's files in memory, instead of the folder.
    :raises ConfigError: if the device is unknown.
    """

    folder: Path
    device: str = 'cpu'
    compute_type: str = 'default'
    files: Mapping[str, bytes | memoryview] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_name(self.device, '--device')

    @property
    def has_map(self) -> bool:
        """Whether the model has a vocabulary map."""
        if self.files is not None:
            return VOCABULARY_MAP in self.files
        return (self.folder / VOCABULARY_MAP).is_file()

    def read_config(self) -> JsonObject:
        """Read the settings next to the model file; empty if there are none."""
        if self.files is not None:
            stored = bytes(self.files.get('config.json', b'{}'))
            settings: JsonObject = json.loads(stored)
            return settings
        path = self.folder / 'config.json'
        return read_object(path) if path.exists() else {}


def read_header(place: ModelPlace) -> tuple[str, int | None]:
    """
    Read and check the names and sizes in a model file.

    :return: CTranslate2's class for it, and the number of its learned positions.
    :raises ConfigError: if the folder has no converted model.
    :raises ModelError: if the file is damaged, or its model cannot generate text.
    """
    path = place.folder / MODEL_FILE
    if place.files is None and not path.is_file():
        is_folder = place.folder.is_dir()
        what = f'a folder without {MODEL_FILE}' if is_folder else 'no folder'
        raise ConfigError(
            f'--model-path {str(place.folder)!r} is {what}; it must be a model in '
            f"CTranslate2's format. {CONVERT}"
        )
    try:
        if place.files is not None:
            model = binary.read(place.files[MODEL_FILE])
        else:
            with open(path, 'rb') as stream:
                view = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
            model = binary.read(memoryview(view))
    except ValueError as e:  # mmap raises it for an empty file
        raise ModelError(f'CTranslate2 cannot read {path}: {e}. {CONVERT}') from e
    if model.spec not in CLASSES:
        raise ModelError(
            f'{path} holds a {model.spec[:40]!r}, which writes no replies. Take an '
            'encoder-decoder or a decoder (T5, BART, GPT-2, Llama, Qwen, ...).'
        )
    positions = len(model[POSITIONS]) if POSITIONS in model else None
    return CLASSES[model.spec], positions


@contextmanager
def explain_errors(place: ModelPlace) -> Iterator[None]:
    """
    Turn errors of CTranslate2, which raises a bare RuntimeError or ValueError for all
    of them, into errors that name an option.
    """
    try:
        yield
    except (ConfigError, ModelError):
        raise
    except (RuntimeError, ValueError, MemoryError) as e:
        reason = ' '.join(str(e).split())[:300]
        lower = reason.lower()
        if isinstance(e, MemoryError) or 'out of memory' in lower:
            raise ConfigError(
                f'{place.device} has not enough memory for {place.folder} and its '
                f'candidates ({reason}). Ask for fewer candidates '
                '(--candidate-strategies), a smaller --compute-type such as int8, a '
                'smaller batch (-bs 1), or --device cpu.'
            ) from e
        if 'compute type' in lower:
            raise ConfigError(
                f'--compute-type {place.compute_type}: {reason}. Use one of '
                f'{COMPUTE_TYPES}.'
            ) from e
        if any(word in lower for word in ('cuda', 'gpu', 'device')):
            raise ConfigError(
                f'--device {place.device} cannot be used: {reason}. Take --device cpu.'
            ) from e
        raise ModelError(
            f'CTranslate2 cannot run {place.folder}: {reason}. {CONVERT}'
        ) from e
