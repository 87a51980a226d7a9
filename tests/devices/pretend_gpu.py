"""
A GPU that is not there: tensors that say ``cuda:0`` and are computed by the processor.

Nothing of it is about speed. It holds code to what a GPU holds it to: an operation on
tensors of two devices is an error, so is reading a GPU's tensor as numpy, and models
are where they were moved to. And it counts what costs time on a GPU: calls, and how
often the program waits for a result.

Python's own indexing and a few other functions ask for the driver before they reach the
dispatcher; those are handed to the processor where they are called.
"""

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Iterator
from unittest import mock

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

aten = torch.ops.aten
GPU = torch.device('cuda', 0)
NO_DRIVER = 'not linked with support for cuda'
# What may have tensors of two devices: moving, and indices that are on the processor.
MOVES = (aten._to_copy.default, aten.copy_.default)
INDEXING = (aten.index.Tensor, aten.index_put_.default, aten._index_put_impl_.default)
# What only looks at memory in another way, and is no work for a GPU.
VIEWS = frozenset(
    'alias as_strided detach expand permute select slice split split_with_sizes '
    'squeeze t transpose unbind unsqueeze view _unsafe_view'.split()
)


@dataclass
class Counted:
    """
    :param calls: operations that a GPU computes.
    :param waits: results that the program waited for.
    """

    calls: int = 0
    waits: int = 0


COUNTED = Counted()


class GpuTensor(torch.Tensor):
    """
    A tensor of the pretended GPU.

    :param host: the processor's tensor that holds its numbers.
    """

    host: torch.Tensor

    @staticmethod
    def __new__(cls, host: torch.Tensor) -> 'GpuTensor':
        return torch.Tensor._make_wrapper_subclass(
            cls,
            host.shape,
            strides=host.stride(),
            storage_offset=host.storage_offset(),
            dtype=host.dtype,
            device=GPU,
            requires_grad=host.requires_grad,
        )

    def __init__(self, host: torch.Tensor):
        self.host = host

    def __repr__(self, **_: Any) -> str:
        return f'GpuTensor({self.host})'

    def tolist(self) -> Any:
        COUNTED.waits += 1
        return self.host.tolist()

    def numpy(self, **_: Any) -> Any:
        raise TypeError("can't convert cuda:0 device type tensor to numpy")

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        with torch._C.DisableTorchFunctionSubclass():
            if func is torch.Tensor.data.__get__:
                return args[0].detach()
            if func in (torch.Tensor.__getitem__, torch.Tensor.__setitem__):
                return _on_host(func, args, kwargs)
            try:
                return func(*args, **kwargs)
            except RuntimeError as e:
                if NO_DRIVER not in str(e):
                    raise
            return _on_host(func, args, kwargs)

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return _dispatch(func, args, kwargs or {})


def _host(value: Any) -> Any:
    return value.host if isinstance(value, GpuTensor) else value


def _on_host(func: Any, args: Any, kwargs: Any) -> Any:
    """What asks for a driver: computed by the processor, the result on the GPU."""
    COUNTED.calls += 1
    if not isinstance(args[0], GpuTensor):
        raise RuntimeError('indices should be on the same device as what they index')
    out = func(*tree_map(_host, args), **tree_map(_host, kwargs))
    if func.__name__ == 'nonzero' or not isinstance(out, (torch.Tensor, type(None))):
        COUNTED.waits += not isinstance(out, tuple) or func.__name__ == 'nonzero'
    return tree_map(lambda x: GpuTensor(x) if isinstance(x, torch.Tensor) else x, out)


def _is_gpu(device: Any) -> bool:
    return device is not None and torch.device(device).type == 'cuda'


def _dispatch(func: Any, args: Any, kwargs: Any) -> Any:
    tensors = [t for t in tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor)]
    on = [t for t in tensors if isinstance(t, GpuTensor)]
    asked = kwargs.get('device')
    if not on and not _is_gpu(asked):
        return func(*args, **kwargs)
    _check_one_device(func, args, tensors, on)
    if func is aten._fused_sdp_choice.default:
        return 0  # by its steps: the processor's fused kernel is no GPU's
    if func is aten._local_scalar_dense.default:
        COUNTED.waits += 1
        return func(args[0].host)
    if func.__name__.partition('.')[0] not in VIEWS:
        COUNTED.calls += 1
    hosts = {name: tree_map(_host, value) for name, value in kwargs.items()}
    if asked is not None:
        hosts['device'] = torch.device('cpu')
    out = func(*tree_map(_host, args), **hosts)
    if asked is not None and not _is_gpu(asked):
        COUNTED.waits += 1
        return out.clone()
    # What is changed in place stays the object that it was.
    same = {id(t.host): t for t in on}
    if not on or func is aten.copy_.default:
        same = {id(_host(t)): t for t in tensors}
    return tree_map(
        lambda x: same.get(id(x), GpuTensor(x)) if isinstance(x, torch.Tensor) else x,
        out,
    )


def _check_one_device(func: Any, args: Any, tensors: Any, on: Any) -> None:
    if func in MOVES or not on:
        return
    strangers = [t for t in tensors if not isinstance(t, GpuTensor) and t.dim()]
    if func in INDEXING and isinstance(args[0], GpuTensor):
        indices = tree_leaves(args[1])
        strangers = [t for t in strangers if not any(t is index for index in indices)]
    if strangers:
        raise RuntimeError(
            f'{func}: Expected all tensors to be on the same device, but found at '
            'least two devices, cuda:0 and cpu!'
        )


class _Dispatch(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        with (
            self
        ):  # without gradients torch hands over what is made of other operations
            out = func.decompose(*args, **(kwargs or {}))
        return _dispatch(func, args, kwargs or {}) if out is NotImplemented else out


def _indexed(value: Any) -> Any:
    # Devices without a number, and numbers alone, stand for the first.
    if isinstance(value, (str, torch.device)):
        return GPU if _is_gpu(value) else value
    return value


def _patches() -> Iterator[Any]:
    cuda = {
        '_lazy_init': lambda: None,
        'is_available': lambda: True,
        'device_count': lambda: 1,
        'current_device': lambda: 0,
        'set_device': lambda _: None,
        'synchronize': lambda *_: None,
        'empty_cache': lambda: None,
        'get_rng_state': lambda _=None: torch.random.get_rng_state(),
        'set_rng_state': lambda state, _=None: torch.random.set_rng_state(state),
        'default_generators': (torch.default_generator,),
    }
    for name, value in cuda.items():
        yield mock.patch.object(torch.cuda, name, value)
    plain = torch.Tensor.to

    def to(tensor, *args, **kwargs):
        first = GPU if args and type(args[0]) is int else None
        args = [first, *args[1:]] if first else [_indexed(a) for a in args]
        if 'device' in kwargs:
            kwargs['device'] = _indexed(kwargs['device'])
        return plain(tensor, *args, **kwargs)

    yield mock.patch.object(torch.Tensor, 'to', to)
    yield mock.patch.object(torch.Tensor, 'cuda', lambda t, *_, **__: t.to(GPU))
    for name in ('tensor', 'as_tensor'):
        yield mock.patch.object(torch, name, _maker(getattr(torch, name)))
    # Modules take the moved parameters, in place of new numbers in old ones.
    overwrite = '_overwrite_module_params_on_conversion'
    yield mock.patch.object(torch.__future__, overwrite, True)


def _maker(make: Any) -> Any:
    def made(data, *args, device=None, **kwargs):
        if isinstance(data, GpuTensor):
            return data if device is None else data.to(device)
        out = make(data, *args, **kwargs)
        return out if device is None else out.to(device)

    return made


@contextmanager
def pretend_gpu() -> Iterator[Counted]:
    """
    A GPU while the context lasts, for inference: there are no gradients.

    :return: what it was asked, counted from now on.
    """
    COUNTED.calls = COUNTED.waits = 0
    with ExitStack() as stack:
        for patch in _patches():
            stack.enter_context(patch)
        # torch's engine for gradients has streams of the driver, and ends without.
        stack.enter_context(torch.no_grad())
        stack.enter_context(_Dispatch())
        yield COUNTED
