"""
Devices by name; the libraries that CTranslate2 needs on a GPU (NVIDIA's, which the
extra ``cuda`` installs); and batches: few large calls of a model, each distinct input
once, similar lengths together.
"""

import ctypes
import importlib.util
import logging
import math
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from parlai_q2.errors import ConfigError, Q2Error, is_out_of_memory
from parlai_q2.models.folder import shipped_folder

if TYPE_CHECKING:
    import torch

Item = TypeVar('Item')
Result = TypeVar('Result')
# A GPU if one works, else the CPU.
AUTO = 'auto'
CPU = 'cpu'
# The path that exists on Linux if there is a driver for NVIDIA's GPUs.
DRIVER = Path('/proc/driver/nvidia')


def gpus() -> list[str]:
    """The GPUs that CTranslate2 or torch see, by name."""
    import ctranslate2

    count = ctranslate2.get_cuda_device_count()
    # torch may support GPUs that CTranslate2 does not, but is slow to ask.
    if (
        not count
        and (DRIVER.exists() or shutil.which('nvidia-smi'))
        and importlib.util.find_spec('torch') is not None
    ):
        import torch

        count = torch.cuda.device_count()
    return [f'cuda:{n}' for n in range(count)]


def is_cpu(device: str) -> bool:
    """Whether a device is the CPU, where calls are cheap and padding is expensive."""
    return device.partition(':')[0] == CPU


def check_name(name: str) -> None:
    """Raise ConfigError unless a text names a device."""
    if re.fullmatch(r'auto|cpu|cuda(:\d+)?', name):
        return
    try:
        import torch

        torch.device(name)
    except (ImportError, RuntimeError, TypeError) as e:
        raise ConfigError(
            f'The device is {name!r}, which is no device. Use cpu or cuda:0.'
        ) from e


def check_device(name: str) -> None:
    """As :func:`check_name`; the device must also exist, so that a model can use it."""
    check_name(name)
    kind, _, number = name.partition(':')
    available = gpus() if kind == 'cuda' else []
    if kind == 'cuda' and f'cuda:{number or 0}' not in available:
        raise ConfigError(
            f'The device is {name!r}, which is not available. The GPUs that are seen: '
            f'{", ".join(available) or "none"}.'
        )


@contextmanager
def inference(device: 'str | torch.device') -> Iterator[None]:
    """Compute without gradients or autocast, which would round scores unseen."""
    import torch

    kind = torch.device(device).type
    with torch.inference_mode(), torch.autocast(kind, enabled=False):
        yield


@contextmanager
def in_float32() -> Iterator[None]:
    """Create tensors in fp32; the host program's default dtype could round weights."""
    import torch

    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


# The libraries that CTranslate2 opens by name at its first product, in load order.
LIBRARIES = ('libcublasLt.so.12', 'libcublas.so.12')
# The smallest shipped model, which is tested before a GPU is used.
TRIED = 'q2_mini/retrieval'
_logger = logging.getLogger(__name__)
# The batch size in the warning, which is shown once.
_warned_sizes: list[int] = []


@cache
def load_cublas() -> None:
    """
    Load NVIDIA's libraries from pip's packages, or else from the system. CTranslate2
    finds libraries that are already loaded.

    :raises ConfigError: if one of them is missing or cannot be loaded.
    """
    if sys.platform != 'linux':
        return
    folders = [f'{folder}/' for folder in _find_wheel()]
    for name in LIBRARIES:
        for folder in [*folders, '']:
            try:
                ctypes.CDLL(f'{folder}{name}', mode=ctypes.RTLD_GLOBAL)
                break
            except OSError as e:
                problem = e
        else:
            raise ConfigError(
                f'A GPU needs {name}, which cannot be loaded ({problem}). Run: pip '
                'install "parlai_q2[cuda]", or take a CPU: --scorer-device cpu, or '
                '--device cpu for a generator.'
            )


def _find_wheel() -> list[Path]:
    """Find the folder of NVIDIA's libraries that pip installed, if any."""
    try:
        spec = importlib.util.find_spec('nvidia.cublas')
    except ModuleNotFoundError:
        return []
    folders = spec.submodule_search_locations if spec else None
    return [Path(folder) / 'lib' for folder in folders or ()]


def choose_device(gpu: str = 'cuda') -> str:
    """A GPU if there is one and the shipped models run on it, else the CPU."""
    return gpu if gpus() and not find_problem(gpu) else CPU


@cache
def find_problem(device: str) -> str:
    """
    The reason why the shipped models do not run on a GPU, which is logged once; empty
    if they do. To test it, the smallest of them reads a word there.
    """
    from parlai_q2.models.converted.binary import ENCODER
    from parlai_q2.models.converted.engine import (
        ComputeType,
        ConvertedEncoder,
        effective_type,
    )
    from parlai_q2.models.converted.folder import read_model

    try:
        converted = read_model(shipped_folder(TRIED), ENCODER)
        kind = effective_type(ComputeType.AUTO, device)
        encoder = ConvertedEncoder(converted, device, kind, 1)
        encoder.means(encoder.tokens.texts(['a'], 8))
    except (Q2Error, ImportError, RuntimeError, ValueError) as e:
        problem = ' '.join(str(e).split())
        _logger.warning(f'The models run on the CPU, not on the GPU: {problem}')
        return problem
    return ''


def read_batches(
    read: Callable[[Sequence[Item]], Sequence[Result]],
    items: Sequence[Item],
    batches: Sequence[Sequence[int]],
    model: Any,
    threads: int = 1,
) -> list[Result]:
    """
    Run a model on batches of items; return a result for each item, in order. A batch
    that does not fit into the memory is read in halves (:func:`in_halves`).

    :param read: runs the model on some items, and returns a result for each.
    :param batches: the indices of the items in each call; each item is in one of them.
    :param model: what has the ``batch_size``.
    :param threads: how many calls run at once. With more than one, ``read`` must be
        thread-safe and must not need the caller's thread.
    """

    def read_batch(batch: Sequence[int]) -> list[Result]:
        return in_halves(read, [items[i] for i in batch], model)

    if threads > 1 and len(batches) > 1:
        with ThreadPoolExecutor(threads) as pool:
            outputs_per_batch = list(pool.map(read_batch, batches))
    else:
        outputs_per_batch = list(map(read_batch, batches))
    results: dict[int, Result] = {}
    for batch, outputs in zip(batches, outputs_per_batch, strict=True):
        results.update(zip(batch, outputs, strict=True))
    return [results[i] for i in range(len(items))]


def in_halves(
    read: Callable[[Sequence[Item]], Sequence[Result]],
    items: Sequence[Item],
    model: Any,
) -> list[Result]:
    """
    Run a model on a batch. If the batch does not fit into the memory, its halves are
    read one after the other, and the model's later batches are smaller.

    :param model: has a ``batch_size``, which becomes smaller.
    """
    try:
        return list(read(items))
    except Exception as e:
        if len(items) == 1 or not is_out_of_memory(e):
            raise
    half = (len(items) + 1) // 2
    if not _warned_sizes:
        _warned_sizes.append(half)
        _logger.warning(
            f'The memory is too small for {len(items)} texts at once, so they are '
            f'read in halves. --scorer-batch-size {half} sets this from the start.'
        )
    model.batch_size = min(model.batch_size, half)
    return in_halves(read, items[:half], model) + in_halves(read, items[half:], model)


def map_unique(
    items: Sequence[Item], function: Callable[[list[Item]], list[Result]]
) -> list[Result]:
    """Apply a batch function to each distinct item once; a result per item."""
    distinct = list(dict.fromkeys(items))
    results = dict(zip(distinct, function(distinct), strict=True)) if distinct else {}
    return [results[item] for item in items]


def equal_batches(
    lengths: Sequence[int], batch_size: int, workers: int = 1, tokens: int | None = None
) -> list[list[int]]:
    """
    Split inputs into batches of indices, of one length each, longest first, and small
    enough that each worker gets some.

    :param tokens: the most tokens of a batch of several inputs; None for no limit.
    """
    inputs_per_worker = math.ceil(len(lengths) / workers)
    largest = max(1, min(batch_size, inputs_per_worker))
    batches: list[list[int]] = []
    for batch in length_batches(lengths, largest, 1):
        length = max(1, lengths[batch[0]])
        size = max(1, (tokens or sys.maxsize) // length)
        batches += [batch[i : i + size] for i in range(0, len(batch), size)]
    return batches


# For transformers, inputs are padded to a multiple of this many tokens, and share a
# batch only with inputs of the same padded length. The other inputs therefore change
# results only by rounding, about 1e-7.
LENGTH_STEP = 8
# On a GPU, padding costs almost nothing, but every call does.
GPU_LENGTH_STEP = 32


def length_step(device: str) -> int:
    """The number of tokens that input lengths are rounded up to a multiple of."""
    return LENGTH_STEP if is_cpu(device) else GPU_LENGTH_STEP


def padded_length(length: int, step: int = LENGTH_STEP) -> int:
    return -(-length // step) * step


def length_batches(
    lengths: Sequence[int], batch_size: int, step: int = LENGTH_STEP
) -> list[list[int]]:
    """
    Split inputs into batches of indices, of one padded length each, longest first, so
    that there is little padding and memory use peaks at the start.
    """
    groups: dict[int, list[int]] = {}
    for i, length in enumerate(lengths):
        groups.setdefault(padded_length(length, step), []).append(i)
    return [
        group[i : i + batch_size]
        for _, group in sorted(groups.items(), reverse=True)
        for i in range(0, len(group), batch_size)
    ]


def padded(
    rows: Sequence[Sequence[int]], value: int, step: int = LENGTH_STEP
) -> 'torch.Tensor':
    """
    Rows of ids as a tensor [B, L], padded on the right to their
    :func:`padded_length`.
    """
    import torch

    length = padded_length(max(map(len, rows)), step)
    return torch.tensor([[*row, *[value] * (length - len(row))] for row in rows])
