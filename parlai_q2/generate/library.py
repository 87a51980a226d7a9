"""
Opens a generator in CTranslate2's format, and starts searches in it by one interface,
whether it is an encoder-decoder or a decoder alone.

Before native code sees a model file, its names and sizes are read in Python.
"""

import json
import mmap
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional

from parlai_q2.errors import ConfigError, ModelError
from parlai_q2.generate.seeded import SeededModel
from parlai_q2.models.folder import read_object

MODEL = 'model.bin'
CONVERT = (
    'Convert one: ct2-transformers-converter --model NAME --output_dir FOLDER '
    '--quantization int8 --copy_files tokenizer.json tokenizer_config.json'
)
# Beside a model, the tokens that may be written for a context; the rest of the
# vocabulary is not looked at. The library's converter copies such a file.
VOCABULARY_MAP = 'vmap.txt'
# The class of the library for each kind of model.
KINDS = {'TransformerSpec': 'Translator', 'TransformerDecoderSpec': 'Generator'}
# The table of learned positions, whose rows are the longest context.
POSITIONS = 'decoder/position_encodings/encodings'
DEVICES = ('cpu', 'cuda', 'auto')
COMPUTE_TYPES = (
    *('default', 'auto', 'int8', 'int8_float32', 'int8_float16', 'int8_bfloat16'),
    *('int16', 'float16', 'bfloat16', 'float32'),
)


@dataclass(frozen=True)
class Place:
    """
    Where a model is and how it is to run.

    :param folder: a folder that the library's converter wrote, or a name for ``files``.
    :param device: ``cpu``, ``cuda``, ``cuda:1`` or ``auto``.
    :param compute_type: one of :data:`COMPUTE_TYPES`.
    :param files: the model's files from memory, in place of the folder.
    :raises ConfigError: when one of them cannot be right.
    """

    folder: Path
    device: str = 'cpu'
    compute_type: str = 'default'
    files: Optional[Mapping[str, Any]] = field(default=None, repr=False)

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


@dataclass(frozen=True)
class Header:
    """What a model file says of itself: its kind, and the rows of its positions."""

    kind: str
    positions: Optional[int] = None


def read_header(place: Place) -> Header:
    """
    Read a model file's names and sizes.

    :raises ConfigError: when the folder is not one of a converted model.
    :raises ModelError: when the file is damaged, or of a kind that does not write.
    """
    if place.files is not None:
        return _header(memoryview(place.files[MODEL]), place.folder)
    path = place.folder / MODEL
    if not path.is_file():
        what = 'no folder' if not place.folder.is_dir() else f'a folder without {MODEL}'
        raise ConfigError(
            f'--model-path {str(place.folder)!r} is {what}; it must be a model in '
            f"CTranslate2's format. {CONVERT}"
        )
    with open(path, 'rb') as stream:
        if not path.stat().st_size:
            raise _damaged(path, 'it is empty')
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            with memoryview(mapped) as view:
                return _header(view, path)


def read_config(place: Place) -> dict[str, Any]:
    """The settings beside a model file; empty where there are none."""
    if place.files is not None:
        return json.loads(bytes(place.files.get('config.json', b'{}')))
    path = place.folder / 'config.json'
    return read_object(path) if path.exists() else {}


def _header(view: memoryview, path: Path) -> Header:
    at, positions = 0, None

    def number(form: str) -> int:
        nonlocal at
        (found,) = struct.unpack_from(form, view, at)
        at += struct.calcsize(form)
        return found

    def text() -> str:
        nonlocal at
        size = number('<H')
        if at + size > len(view):
            raise ValueError('it is cut short')
        at += size
        return bytes(view[at - size : at - 1]).decode('utf-8')

    try:
        version = number('<I')
        if not 1 < version < 100:
            raise ValueError(f'its version is {version}')
        spec = text()
        number('<I')
        for _ in range(number('<I')):
            name = text()
            shape = [number('<I') for _ in range(number('<B'))]
            if version >= 4:
                number('<B')
                size = number('<I')
            else:
                size = number('<B') * number('<I')
            at += size
            if at > len(view):
                raise ValueError(f'it ends within {name}')
            if name == POSITIONS and shape:
                positions = shape[0]
    except (struct.error, ValueError) as e:
        raise _damaged(path, str(e)) from e
    if spec not in KINDS:
        raise ModelError(
            f'{path} holds a {spec[:40]!r}, which writes no replies. Take an '
            'encoder-decoder or a decoder (T5, BART, GPT-2, Llama, Qwen, ...).'
        )
    return Header(KINDS[spec], positions)


def _damaged(path: Path, why: str) -> ModelError:
    return ModelError(f'{path} is no model that CTranslate2 can read: {why}. {CONVERT}')


@dataclass(frozen=True)
class Found:
    """One sequence of tokens; the library's score of it, and whether it ended."""

    tokens: tuple[str, ...]
    score: float
    ended: bool


class Searches:
    """
    Starts searches in a model.

    :param ends: the tokens that end a reply.
    :param vocabulary: how many tokens the model knows, at least.
    """

    def __init__(
        self, place: Place, header: Header, ends: Sequence[str], vocabulary: int
    ):
        self.place, self.ends, self.vocabulary = place, list(ends), vocabulary
        self.decoder_alone = header.kind == 'Generator'
        # The tokens that a call may write are those of all its contexts.
        self.has_map = not self.decoder_alone and place.has_map
        self._kind = header.kind
        self._seeded = SeededModel(self._open)

    def load(self) -> None:
        """Load the model now."""
        self._seeded.load()

    def plain(
        self, rows: Sequence[Sequence[str]], prefix: Sequence[str] = (), **options: Any
    ) -> list[list[Found]]:
        """
        Search without drawing.

        :param rows: contexts of the same length.
        :param prefix: tokens that every reply begins with.
        :param options: see :meth:`_start`.
        :return: what was found for each context, best first.
        """
        with _explaining(self.place):
            future = self._start(self._seeded.model, rows, prefix, **options)
            return [self._found(one.result(), prefix) for one in future]

    def sampled(self, row: Sequence[str], seed: int, **options: Any) -> list[Found]:
        """Samples for one context, which depend on it, the seed and the options."""

        def start(model: Any, step: Any) -> Any:
            return self._start(model, [row], callback=step, **options)[0]

        with _explaining(self.place):
            return self._found(self._seeded.sample(seed, start))

    def _start(
        self,
        model: Any,
        rows: Sequence[Sequence[str]],
        prefix: Sequence[str] = (),
        least: int = 0,
        most: int = 128,
        **options: Any,
    ) -> Any:
        """
        :param prefix: tokens that every reply begins with, which count.
        :param least: the least number of tokens.
        :param most: the greatest.
        """
        options |= {
            'asynchronous': True,
            'return_scores': True,
            'return_end_token': True,
            'end_token': self.ends,
        }
        if self.decoder_alone:
            return model.generate_batch(
                [[*row, *prefix] for row in rows],
                include_prompt_in_result=False,
                min_length=max(least - len(prefix), 0),
                max_length=max(most - len(prefix), 1),
                **options,
            )
        return model.translate_batch(
            [list(row) for row in rows],
            [list(prefix)] * len(rows) if prefix else None,
            max_input_length=0,
            use_vmap=self.has_map,
            min_decoding_length=least,
            max_decoding_length=most,
            **options,
        )

    def _found(self, result: Any, prefix: Sequence[str] = ()) -> list[Found]:
        if self.decoder_alone:
            sequences = [[*prefix, *tokens] for tokens in result.sequences]
        else:
            sequences = result.hypotheses
        found = []
        for tokens, score in zip(sequences, result.scores, strict=True):
            ended = bool(tokens) and tokens[-1] in self.ends
            kept = tokens[:-1] if ended else tokens
            found.append(Found(tuple(kept), float(score), ended))
        return found

    def _open(self, threads: int) -> Any:
        import ctranslate2

        kind, _, number = self.place.device.partition(':')
        files = self.place.files
        with _explaining(self.place):
            return getattr(ctranslate2, self._kind)(
                str(self.place.folder),
                kind,
                device_index=int(number or 0),
                compute_type=self.place.compute_type,
                inter_threads=threads,
                intra_threads=1,
                max_queued_batches=-1,
                files=None if files is None else dict(files),
            )


class _explaining:
    """Turns what the library raises into errors that name an option."""

    def __init__(self, place: Place):
        self.place = place

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if not isinstance(error, (RuntimeError, ValueError, MemoryError)):
            return
        if isinstance(error, (ConfigError, ModelError)):
            return
        said = ' '.join(str(error).split())[:300]
        # CTranslate2 raises a bare RuntimeError or ValueError for all of these.
        low = said.lower()
        if isinstance(error, MemoryError) or 'out of memory' in low:
            raise ConfigError(
                f'{self.place.device} has not enough memory for '
                f'{self.place.folder} and its candidates ({said}). Ask for fewer '
                'candidates (--candidate-strategies), a smaller --compute-type such as '
                'int8, a smaller batch (-bs 1), or --device cpu.'
            ) from error
        if 'compute type' in low:
            raise ConfigError(
                f'--compute-type {self.place.compute_type}: {said}'
            ) from error
        if 'cuda' in low or 'gpu' in low:
            raise ConfigError(
                f'--device {self.place.device} cannot be used: {said}. Take '
                '--device cpu.'
            ) from error
        raise ModelError(
            f'CTranslate2 cannot run {self.place.folder}: {said}. {CONVERT}'
        ) from error
