"""
Opens a generator in CTranslate2's format, an encoder-decoder or a decoder alone, and
starts its searches.

Before native code reads a model file, its names and sizes are checked in Python.
"""

import json
import mmap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from parlai_q2.errors import ConfigError, ModelError
from parlai_q2.json_values import JsonObject
from parlai_q2.models.converted import binary
from parlai_q2.models.folder import read_object
from parlai_q2.threads import cores

MODEL = 'model.bin'
CONVERT = (
    'Convert one: ct2-transformers-converter --model NAME --output_dir FOLDER '
    '--quantization int8 --copy_files tokenizer.json tokenizer_config.json'
)
# The tokens that may be written for a context; the others are not computed. The
# converter copies such a file.
VOCABULARY_MAP = 'vmap.txt'
# CTranslate2's class for each kind of model.
DECODER = 'Generator'
CLASSES = {'TransformerSpec': 'Translator', 'TransformerDecoderSpec': DECODER}
# The table of learned positions, whose rows limit the context.
POSITIONS = 'decoder/position_encodings/encodings'
DEVICES = ('cpu', 'cuda', 'auto')
COMPUTE_TYPES = (
    *('default', 'auto', 'int8', 'int8_float32', 'int8_float16', 'int8_bfloat16'),
    *('int16', 'float16', 'bfloat16', 'float32'),
)


@dataclass(frozen=True)
class ModelPlace:
    """
    Where a model is and how to run it.

    :param folder: a folder that CTranslate2's converter wrote, or a name for ``files``.
    :param device: ``cpu``, ``cuda``, ``cuda:1`` or ``auto``.
    :param compute_type: one of :data:`COMPUTE_TYPES`.
    :param files: the model's files in memory, instead of the folder.
    :raises ConfigError: if the device or the type is unknown.
    """

    folder: Path
    device: str = 'cpu'
    compute_type: str = 'default'
    files: Mapping[str, bytes | memoryview] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        kind, colon, number = self.device.partition(':')
        if kind not in DEVICES or (colon and not number.isdecimal()):
            raise ConfigError(
                f'--device is {self.device!r}; it must be cpu, cuda, cuda:1 or auto.'
            )
        if self.compute_type not in COMPUTE_TYPES:
            raise ConfigError(
                f'--compute-type is {self.compute_type!r}; it must be one of '
                f'{", ".join(COMPUTE_TYPES)}.'
            )

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
    :raises ModelError: if the file is damaged, or its model does not write.
    """
    path = place.folder / MODEL
    try:
        if place.files is not None:
            model = binary.read(place.files[MODEL])
        elif path.is_file():
            with open(path, 'rb') as stream:
                view = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
            model = binary.read(memoryview(view))
        else:
            is_folder = place.folder.is_dir()
            what = f'a folder without {MODEL}' if is_folder else 'no folder'
            raise ConfigError(
                f'--model-path {str(place.folder)!r} is {what}; it must be a model in '
                f"CTranslate2's format. {CONVERT}"
            )
    except (ConfigError, ModelError):
        raise
    except ValueError as e:  # as mmap raises for an empty file
        raise ModelError(f'CTranslate2 cannot read {path}: {e}. {CONVERT}') from e
    if model.spec not in CLASSES:
        raise ModelError(
            f'{path} holds a {model.spec[:40]!r}, which writes no replies. Take an '
            'encoder-decoder or a decoder (T5, BART, GPT-2, Llama, Qwen, ...).'
        )
    positions = len(model[POSITIONS]) if POSITIONS in model else None
    return CLASSES[model.spec], positions


@dataclass(frozen=True)
class Hypothesis:
    """A sequence of tokens, CTranslate2's score, and whether it ended."""

    tokens: tuple[str, ...]
    score: float
    ended: bool


class GenerationModel:
    """
    An encoder-decoder or a decoder that CTranslate2 runs.

    :param kind: CTranslate2's class for it.
    :param end_tokens: the tokens that end a reply.
    :param vocabulary_size: the minimum number of tokens that the model knows.
    :param seed: seeds the samples. They then need a single worker; with None, each core
        has one, and samples differ from run to run.
    """

    def __init__(
        self,
        place: ModelPlace,
        kind: str,
        end_tokens: Sequence[str],
        vocabulary_size: int,
        seed: int | None = None,
    ):
        import ctranslate2

        self.place, self.end_tokens = place, list(end_tokens)
        self.vocabulary_size, self.seed = vocabulary_size, seed
        self.is_decoder = kind == DECODER
        # A call may write the tokens of all its contexts.
        self.has_map = not self.is_decoder and place.has_map
        device, _, number = place.device.partition(':')
        threads = cores() if device == 'cpu' else 1
        workers = threads if seed is None else 1
        with explain_errors(place):
            self._model = getattr(ctranslate2, kind)(
                str(place.folder),
                device,
                device_index=int(number or 0),
                compute_type=place.compute_type,
                inter_threads=workers,
                intra_threads=max(1, threads // workers),
                max_queued_batches=-1,
                files=None if place.files is None else dict(place.files),
            )

    def start(
        self,
        contexts: Sequence[Sequence[str]],
        prefixes: Sequence[Sequence[str]] | None = None,
        min_length: int = 0,
        max_length: int = 128,
        **options: object,
    ) -> list[Any]:
        """
        Start a search for each of B contexts.

        :param contexts: as tokens.
        :param prefixes: the tokens that the replies begin with, which count as length.
        :param options: more arguments for CTranslate2.
        :return: B results for :meth:`finish`.
        """
        options |= {
            'asynchronous': True,
            'return_scores': True,
            'return_end_token': True,
            'end_token': self.end_tokens,
            'max_batch_size': 0,
        }
        rows = [list(context) for context in contexts]
        with explain_errors(self.place):
            if self.is_decoder:
                prefix_length = len(prefixes[0]) if prefixes else 0
                for row, prefix in zip(rows, prefixes or ()):
                    row += prefix
                results: list[Any] = self._model.generate_batch(
                    rows,
                    include_prompt_in_result=False,
                    min_length=max(min_length - prefix_length, 0),
                    max_length=max(max_length - prefix_length, 1),
                    **options,
                )
                return results
            results = self._model.translate_batch(
                rows,
                None if prefixes is None else [list(prefix) for prefix in prefixes],
                max_input_length=0,
                # With a map, the library takes tokens of a prefix by the numbers of the
                # call before, and writes others.
                use_vmap=self.has_map and prefixes is None,
                min_decoding_length=min_length,
                max_decoding_length=max_length,
                **options,
            )
            return results

    def start_samples(
        self, contexts: Sequence[Sequence[str]], **options: Any
    ) -> list[Any]:
        """As :meth:`start`, for searches that draw random numbers."""
        if self.seed is not None:
            import ctranslate2

            # A worker reads it once, before it first draws.
            ctranslate2.set_random_seed(self.seed)
        return self.start(contexts, beam_size=1, length_penalty=0, **options)

    def finish(self, result: Any, prefix: Sequence[str] = ()) -> list[Hypothesis]:
        """Wait for a search, and return what it found, best first."""
        with explain_errors(self.place):
            output = result.result()
        if self.is_decoder:
            sequences = [[*prefix, *tokens] for tokens in output.sequences]
        else:
            sequences = output.hypotheses
        hypotheses = []
        for tokens, score in zip(sequences, output.scores, strict=True):
            ended = bool(tokens) and tokens[-1] in self.end_tokens
            text_tokens = tokens[:-1] if ended else tokens
            hypotheses.append(Hypothesis(tuple(text_tokens), float(score), ended))
        return hypotheses


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
            raise ConfigError(f'--compute-type {place.compute_type}: {reason}') from e
        if 'cuda' in lower or 'gpu' in lower:
            raise ConfigError(
                f'--device {place.device} cannot be used: {reason}. Take --device cpu.'
            ) from e
        raise ModelError(
            f'CTranslate2 cannot run {place.folder}: {reason}. {CONVERT}'
        ) from e
