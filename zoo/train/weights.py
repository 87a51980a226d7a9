"""
Interpolates between two models' weights, and writes the folder that a trained model
ships in.

The weights on the line between the initial and the trained model, ``(1 - alpha) *
initial + alpha * trained``, often keep what the initial model knew and most of what was
learnt (Wortsman et al. 2022, "Robust fine-tuning of zero-shot models", section 3,
"WiSE-FT"). The best alpha is chosen on development data.
"""

from pathlib import Path
from typing import Any, Callable, Sequence

import torch

from parlai_q2.errors import ConfigError
from parlai_q2.io.write import whole_file
from parlai_q2.models.engine.int8_weights import (
    INT8_WEIGHTS,
    SMALLEST_QUANTISED,
    dequantise,
    quantise_rows,
    save_int8,
)
from parlai_q2.models.folder import CHECKSUMS, write_checksums

Weights = dict[str, torch.Tensor]


def copied(model: torch.nn.Module) -> Weights:
    """
    A copy of a model's weights on the CPU.
    """
    return {
        name: tensor.detach().cpu().clone()
        for name, tensor in model.state_dict().items()
    }


def interpolated(initial: Weights, trained: Weights, alpha: float) -> Weights:
    """
    The weights on the line between two models.

    :param initial: the weights at alpha 0.
    :param trained: the weights at alpha 1, with the same names and shapes.
    :param alpha: the point on the line, in [0, 1].
    :return: new weights; at 0 and 1 they equal the given ones bit for bit.
    :raises ConfigError: when the two belong to different models or alpha is out of
        range.
    """
    if not 0 <= alpha <= 1:
        raise ConfigError(f'alpha must be in [0, 1], not {alpha}.')
    if {n: t.shape for n, t in initial.items()} != {
        n: t.shape for n, t in trained.items()
    }:
        raise ConfigError('Only weights of one architecture can be interpolated.')
    if alpha in (0, 1):
        return dict(trained if alpha else initial)
    return {
        name: torch.lerp(start, trained[name], alpha)
        if start.is_floating_point()
        else trained[name]
        for name, start in initial.items()
    }


def as_shipped(weights: Weights) -> Weights:
    """
    Weights as they come back after being stored as int8 and fp16.
    """
    rounded: Weights = {}
    for name, tensor in weights.items():
        if tensor.ndim == 2 and tensor.numel() > SMALLEST_QUANTISED:
            parts = quantise_rows(tensor)
            stored = {f'{name}.{part}': value for part, value in parts.items()}
            rounded[name] = dequantise(stored)[name]
        else:
            floating = tensor.is_floating_point()
            rounded[name] = tensor.half().float() if floating else tensor
    return rounded


def best_alpha(
    model: torch.nn.Module,
    initial: Weights,
    alphas: Sequence[float],
    measure: Callable[[torch.nn.Module], dict[str, float]],
) -> list[dict[str, float]]:
    """
    Measure a trained model at several points on the line, and leave it at the best one.

    The weights are measured as they would ship, rounded to int8. That matters where
    training started from int8 weights and moved most of them by less than half a
    quantization step: rounding then takes much of what was learnt away again.

    :param model: the trained model; changed in place.
    :param initial: the weights it started from.
    :param alphas: the points, at least one.
    :param measure: returns a model's figures; a higher ``score`` among them is better.
    :return: the figures of each point, with ``alpha``. Where scores are equal, the
        smaller alpha is taken, which is nearer to the initial model.
    """
    trained, figures = copied(model), []
    for alpha in sorted(alphas):
        model.load_state_dict(as_shipped(interpolated(initial, trained, alpha)))
        figures.append({'alpha': alpha, **measure(model)})
    best = max(figures, key=lambda f: f['score'])
    model.load_state_dict(interpolated(initial, trained, best['alpha']))
    return figures


def distinct(state: Weights) -> Weights:
    """
    A state dict in which weights with several names occur once, under the first name.

    T5's embeddings also belong to the encoder and the decoder; loading ties them again.
    """
    first: dict[tuple, str] = {}
    for name, tensor in state.items():
        first.setdefault((tensor.data_ptr(), tensor.shape), name)
    return {name: state[name] for name in first.values()}


def write_folder(model: Any, tokenizer: Any, folder: Path) -> int:
    """
    Write a model in its shipped form: int8 weights, configuration, tokenizer, and the
    checksums that are verified when it is loaded.

    :param model: a Hugging Face model.
    :param tokenizer: its tokenizer.
    :param folder: the folder to write to; it is created, and existing files are
        replaced.
    :return: the size of the weights in bytes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    # While the weights are being replaced, checksums of the old ones would be wrong.
    (folder / CHECKSUMS).unlink(missing_ok=True)
    with whole_file(folder / INT8_WEIGHTS) as unfinished:
        size = save_int8(distinct(model.state_dict()), unfinished)
    model.config.architectures = [type(model).__name__]
    model.config.save_pretrained(folder)
    if getattr(model, 'generation_config', None) is not None:
        model.generation_config.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    # The files that the shipped folders list.
    names = (
        'config.json',
        'generation_config.json',
        INT8_WEIGHTS,
        'tokenizer.json',
        'tokenizer_config.json',
    )
    write_checksums(folder, [name for name in names if (folder / name).exists()])
    return size
