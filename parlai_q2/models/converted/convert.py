"""
Converts a model of transformers, or one with int8 weights, for CTranslate2:

    python -m parlai_q2.models.converted.convert FOLDER OUT

``ct2-transformers-converter`` does so for more architectures. This one also keeps the
output layer of a classifier or question answerer, knows MPNet, takes int8 weights as
they are, and can leave out words that a decoder need not write.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from parlai_q2.errors import ConfigError
from parlai_q2.models.converted import binary
from parlai_q2.models.converted.architectures import (
    ENCODER,
    OUTPUT_LAYERS,
    convert_weights,
)
from parlai_q2.models.converted.check import check
from parlai_q2.models.converted.folder import (
    CONFIG,
    HEAD,
    MODEL,
    PART_BYTES,
    SHARED,
    SOURCE,
    TARGET,
    WORDS,
    has_int8,
    list_words,
    part_name,
    read_head,
    read_tensors,
    write_settings,
)
from parlai_q2.models.folder import CHECKSUMS, read_object, write_checksums
from parlai_q2.models.tokens import FILE, SETTINGS

# Of a Hugging Face configuration, what is read of an encoder beside the library's own.
CONFIG_FIELDS = ('architectures', 'id2label', 'model_type', 'pad_token_id')
# Matrices with up to this many elements (relative position tables) stay as they are.
SMALLEST_QUANTISED = 4096
MOST = 127


def quantised(
    state: Mapping[str, np.ndarray], grid: float = 1.0
) -> dict[str, np.ndarray]:
    """
    Weights in int8 with a scale for each row, as the library itself rounds them.

    :param grid: how much longer the steps are than they need to be: 1.1 for weights
        that were in int8 before and changed little since.
    """
    arrays: dict[str, np.ndarray] = {}
    for name, weight in state.items():
        if weight.ndim == 2 and weight.size > SMALLEST_QUANTISED:
            scale = np.maximum(np.abs(weight).max(1), np.float32(1e-8)) / MOST * grid
            arrays[f'{name}.q'] = np.rint(weight / scale[:, None]).astype(np.int8)
            arrays[f'{name}.s'] = scale.astype(np.float32)
        else:
            arrays[name] = weight
    return arrays


def write_tensors(
    tensors: Mapping[str, np.ndarray],
    source: Path,
    out: Path,
    keep: Sequence[int] | None = None,
) -> int:
    """
    Write a converted model.

    :param tensors: weights in their stored form, by the names of transformers.
    :param source: the folder whose configuration and tokenizer it has.
    :param keep: the ids that a decoder can write; None for all.
    :return: the size of the model file in bytes.
    :raises ConfigError: if the architecture is not one of those that are converted.
    """
    from safetensors.numpy import save

    config = read_object(source / CONFIG)
    (name,) = config['architectures']
    if name not in OUTPUT_LAYERS:
        raise ConfigError(
            f'{source} has a {name}, which is not converted here. Try '
            'ct2-transformers-converter.'
        )
    output = OUTPUT_LAYERS[name]
    model = convert_weights(tensors, config, keep)
    check(model, model.spec)
    out.mkdir(parents=True, exist_ok=True)
    for old in (CHECKSUMS, SHARED, SOURCE, TARGET, *map(part_name, range(1, 20))):
        (out / old).unlink(missing_ok=True)
    data = binary.write(model)
    written = []
    for n, start in enumerate(range(0, len(data), PART_BYTES), 1):
        written.append(part_name(n))
        (out / part_name(n)).write_bytes(data[start : start + PART_BYTES])
    words = list_words(source, len(model['encoder/embeddings_0/weight']))
    settings = write_settings(config, source)
    if model.spec == ENCODER:
        settings.update(
            {name: config[name] for name in CONFIG_FIELDS if name in config}
        )
        written.append(WORDS)
        _write_json(out / WORDS, words)
        (out / HEAD).unlink(missing_ok=True)
        if output:
            written.append(HEAD)
            (out / HEAD).write_bytes(save(read_head(tensors, output)))
    elif keep is None:
        written.append(SHARED)
        _write_json(out / SHARED, words)
    else:
        written += [SOURCE, TARGET]
        _write_json(out / SOURCE, words)
        _write_json(out / TARGET, [words[n] for n in keep])
    _write_json(out / CONFIG, settings, indent=1)
    for name in (FILE, SETTINGS):
        if (source / name).exists():
            (out / name).write_bytes((source / name).read_bytes())
            written.append(name)
    write_checksums(out, sorted([*written, CONFIG]))
    return len(data)


def write_converted(
    source: str,
    out: Path,
    in_int8: bool = True,
    keep: Sequence[int] | None = None,
    grid: float = 1.0,
) -> int:
    """Convert a folder; see :func:`write_tensors`."""
    folder = Path(source)
    return write_tensors(read_weights(folder, in_int8, grid), folder, out, keep)


def read_weights(
    folder: Path, in_int8: bool = True, grid: float = 1.0
) -> dict[str, np.ndarray]:
    """The weights of a folder in their stored form; int8 ones as they are."""
    if has_int8(folder):
        return read_tensors(folder)
    import transformers

    from parlai_q2.models.loading import load_model

    (name,) = read_object(folder / CONFIG)['architectures']
    model = load_model(str(folder), getattr(transformers, name))
    return of_model(model, in_int8, grid)


def of_model(
    model: Any, in_int8: bool = True, grid: float = 1.0
) -> dict[str, np.ndarray]:
    """The weights of a model of transformers in their stored form."""
    state = {n: t.detach().float().numpy() for n, t in model.state_dict().items()}
    return quantised(state, grid) if in_int8 else state


def _write_json(path: Path, content: Any, indent: int | None = None) -> None:
    text = json.dumps(content, indent=indent, sort_keys=isinstance(content, dict))
    path.write_text(text + '\n', encoding='utf-8')


def main(argv: Sequence[str] | None = None) -> None:
    """Convert a folder."""
    parser = argparse.ArgumentParser(description='Converts a model for CTranslate2')
    parser.add_argument('folder', help='with config.json, weights and tokenizer.json')
    parser.add_argument('out', type=Path)
    parser.add_argument(
        '--keep', type=Path, help='a JSON list of the ids that a decoder can write'
    )
    parser.add_argument(
        '--grid', type=float, default=1.0, help='1.1 for what was in int8 before'
    )
    args = parser.parse_args(argv)
    keep = json.loads(args.keep.read_text()) if args.keep else None
    size = write_converted(args.folder, args.out, keep=keep, grid=args.grid)
    print(f'{args.out}: {MODEL} has {size} bytes')


if __name__ == '__main__':
    main()
