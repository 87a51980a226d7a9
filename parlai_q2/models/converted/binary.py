"""
CTranslate2's model file: a header, then named arrays, then further names for some of
them (``ModelSpec._serialize`` of the library, binary version 6).

The library reads these files in native code, which trusts the sizes in them; here they
are read in Python, where a wrong size is an error.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

VERSION = 6
# By their numbers in a file. bfloat16 is unknown to numpy, and only its bits are kept.
TYPES = ('float32', 'int8', 'int16', 'int32', 'float16', 'bfloat16')
Buffer = bytes | memoryview


@dataclass(frozen=True)
class Model:
    """
    A model file's content.

    :param spec: the name of the architecture, e.g. ``TransformerSpec``.
    :param arrays: the weights and settings by name, as views of the file.
    :param aliases: further names, each of an array.
    """

    spec: str
    revision: int
    arrays: Mapping[str, np.ndarray]
    aliases: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> np.ndarray:
        return self.arrays[self.aliases.get(name, name)]

    def __contains__(self, name: str) -> bool:
        return self.aliases.get(name, name) in self.arrays


def read(data: Buffer) -> Model:
    """
    Read a model file.

    :raises ValueError: if it is of another version, cut short, has bytes left over, or
        a size in it is wrong.
    """
    reader = _Reader(memoryview(data))
    version = reader.number('I')
    if version != VERSION:
        raise ValueError(f'its version is {version}, not {VERSION}')
    spec, revision = reader.text(), reader.number('I')
    arrays: dict[str, np.ndarray] = {}
    for _ in range(reader.number('I')):
        name = reader.text()
        if name in arrays:
            raise ValueError(f'{name} is in it twice')
        arrays[name] = reader.array(name)
    aliases: dict[str, str] = {}
    for _ in range(reader.number('I')):
        name, target = reader.text(), reader.text()
        if name in arrays or name in aliases or target not in arrays:
            raise ValueError(f'{name!r} stands for {target!r}')
        aliases[name] = target
    if reader.remaining:
        raise ValueError(f'{reader.remaining} bytes are left over')
    return Model(spec, revision, arrays, aliases)


def write(model: Model) -> bytes:
    """A model file of these arrays, which the library loads."""
    parts: list[Buffer] = [
        struct.pack('<I', VERSION),
        _text(model.spec),
        struct.pack('<II', model.revision, len(model.arrays)),
    ]
    for name, array in sorted(model.arrays.items()):
        array = np.ascontiguousarray(array).reshape(array.shape)
        shape = struct.pack(f'<B{array.ndim}I', array.ndim, *array.shape)
        size = struct.pack('<BI', TYPES.index(array.dtype.name), array.nbytes)
        parts += [_text(name), shape, size, array.tobytes()]
    parts.append(struct.pack('<I', len(model.aliases)))
    for name, target in sorted(model.aliases.items()):
        parts += [_text(name), _text(target)]
    return b''.join(parts)


def _text(text: str) -> bytes:
    encoded = text.encode('utf-8') + b'\0'
    return struct.pack('<H', len(encoded)) + encoded


class _Reader:
    def __init__(self, data: memoryview):
        self.data, self.at = data, 0

    @property
    def remaining(self) -> int:
        return len(self.data) - self.at

    def take(self, size: int) -> memoryview:
        if size > self.remaining:
            raise ValueError('it is cut short')
        self.at += size
        return self.data[self.at - size : self.at]

    def number(self, kind: str) -> int:
        (value,) = struct.unpack(f'<{kind}', self.take(struct.calcsize(f'<{kind}')))
        return int(value)

    def text(self) -> str:
        raw = bytes(self.take(self.number('H')))
        if raw[-1:] != b'\0' or b'\0' in raw[:-1]:
            raise ValueError('a name in it is damaged')
        return raw[:-1].decode('utf-8')

    def array(self, name: str) -> np.ndarray:
        rank = self.number('B')
        if rank > 4:
            raise ValueError(f'{name} has {rank} dimensions')
        shape = [self.number('I') for _ in range(rank)]
        kind, size = self.number('B'), self.number('I')
        if kind >= len(TYPES):
            raise ValueError(f'{name} is of the unknown type {kind}')
        # bfloat16 as its bits.
        dtype = np.dtype('uint16' if kind == 5 else TYPES[kind])
        count = 1
        for dimension in shape:
            count *= dimension
        if size != count * dtype.itemsize:
            raise ValueError(f'{name} has {size} bytes for the shape {shape}')
        return np.frombuffer(self.take(size), dtype.newbyteorder('<')).reshape(shape)
