"""
CTranslate2's model file: a header, then named arrays, then further names for some of
them (``ModelSpec._serialize`` of the library, binary version 6).

The library reads these files in native code, which trusts the sizes in them; here they
are read in Python, where a wrong size is an error.
"""

import re
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

VERSION = 6
# Types by their numbers in a file. numpy has no bfloat16, so only its bits are kept.
ARRAY_TYPES = ('float32', 'int8', 'int16', 'int32', 'float16', 'bfloat16')
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
    """Write a model file of these arrays, which the library can load."""
    parts: list[Buffer] = [
        struct.pack('<I', VERSION),
        _text(model.spec),
        struct.pack('<II', model.revision, len(model.arrays)),
    ]
    for name, array in sorted(model.arrays.items()):
        array = np.ascontiguousarray(array).reshape(array.shape)
        shape = struct.pack(f'<B{array.ndim}I', array.ndim, *array.shape)
        size = struct.pack('<BI', ARRAY_TYPES.index(array.dtype.name), array.nbytes)
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

    def number(self, code: str) -> int:
        """:param code: the number's type, as in ``struct``."""
        (value,) = struct.unpack(f'<{code}', self.take(struct.calcsize(f'<{code}')))
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
        type_number, size = self.number('B'), self.number('I')
        if type_number >= len(ARRAY_TYPES):
            raise ValueError(f'{name} is of the unknown type {type_number}')
        type_name = ARRAY_TYPES[type_number]
        # bfloat16 is kept as bits.
        dtype = np.dtype('uint16' if type_name == 'bfloat16' else type_name)
        count = 1
        for dimension in shape:
            count *= dimension
        if size != count * dtype.itemsize:
            raise ValueError(f'{name} has {size} bytes for the shape {shape}')
        return np.frombuffer(self.take(size), dtype.newbyteorder('<')).reshape(shape)


ENCODER, SEQ2SEQ = 'TransformerEncoderSpec', 'TransformerSpec'
REVISIONS = {ENCODER: 1, SEQ2SEQ: 7}
KINDS = {ENCODER: 'an encoder', SEQ2SEQ: 'an encoder-decoder'}
_LAYER = re.compile(r'(encoder|decoder)/layer_(\d+)/(.+)')
# The parts of a stack besides its layers, and of a model besides its stacks.
_OUTSIDE = re.compile(
    r'(?:encoder|decoder)/(?:num_heads|pre_norm|activation|alignment_(?:layer|heads)'
    r'|embeddings_merge|scale_(?:embeddings|outputs|alibi)|multi_query_attention'
    r'|alibi(?:_use_positive_positions)?|start_from_zero_embedding'
    r'|position_encodings/encodings|layer(?:norm_embedding|_norm)/(?:gamma|beta)'
    r'|embeddings(?:_[01])?/(?:weight|weight_scale|multiply_by_sqrt_depth)'
    r'|projection/(?:weight|weight_scale|bias))'
    r'|pooler_dense/(?:weight|weight_scale|bias)|pooler_activation'
)
_FLOATS = ('float32', 'float16', 'uint16')  # uint16 has the bits of bfloat16
_MOST_HEADS = 1024


def check(model: Model, expected: str, vocabularies: Iterable[int] = ()) -> None:
    """
    Check that a model's parts fit.

    :param expected: :data:`ENCODER` or :data:`SEQ2SEQ`.
    :param vocabularies: the numbers of words, of the source first.
    :raises ValueError: if something does not fit.
    """
    if model.spec != expected:
        kind = KINDS.get(model.spec, f'a {model.spec[:40]!r}')
        raise ValueError(f'it is {kind}, where {KINDS[expected]} is needed')
    if model.revision > REVISIONS[expected]:
        raise ValueError(f'its revision {model.revision} is unknown')
    for name, array in model.arrays.items():
        _check_array(model, name, array)
    stacks = ('encoder', 'decoder') if expected == SEQ2SEQ else ('encoder',)
    for stack in stacks:
        _check_stack(model, stack)
    tables = ['encoder/embeddings_0/weight', 'decoder/projection/weight']
    for table, count in zip(tables, vocabularies):
        if len(model[table]) != count:
            raise ValueError(f'{table} has not {count} rows, one for each word')


def _check_array(model: Model, name: str, array: np.ndarray) -> None:
    leaf = name.rpartition('/')[2]
    if not array.ndim:
        _check_number(name, leaf, array)
    elif leaf == 'weight':
        if array.ndim != 2 or not array.size:
            raise ValueError(f'{name} is no matrix')
        is_quantised = array.dtype in ('int8', 'int16')
        scale = model.arrays.get(f'{name}_scale')
        is_known = is_quantised or array.dtype.name in _FLOATS
        if is_quantised != (scale is not None) or not is_known:
            raise ValueError(f'{name} is of the type {array.dtype}')
        if scale is not None and not (
            scale.shape == array.shape[:1] and _is_finite(scale) and (scale != 0).all()
        ):
            raise ValueError(f'{name}_scale does not fit')
        bias = model.arrays.get(name.removesuffix('weight') + 'bias')
        if bias is not None and bias.shape != array.shape[:1]:
            raise ValueError(f'{name} and its bias do not fit')
    elif leaf != 'weight_scale' and not _is_finite(array):
        raise ValueError(f'{name} has values that are not numbers')


def _check_number(name: str, leaf: str, array: np.ndarray) -> None:
    value = array.item()
    if array.dtype == 'int8':
        is_valid = 0 <= value <= (6 if leaf.endswith('activation') else 1)
    elif leaf in ('num_heads', 'num_heads_kv', 'head_dim'):
        is_valid = 0 < value <= _MOST_HEADS
    elif array.dtype == 'float32':
        is_valid = bool(np.isfinite(value))
    else:
        is_valid = -1 <= value <= 2**20
    if not is_valid:
        raise ValueError(f'{name} is {value}')


def _is_finite(array: np.ndarray) -> bool:
    """Whether an array has only finite floats; the bits of bfloat16 are not checked."""
    if array.dtype == 'uint16':
        return True
    is_float = array.dtype in ('float32', 'float16')
    return is_float and bool(np.isfinite(array).all())


def _check_stack(model: Model, stack: str) -> None:
    layers = count_layers(model, stack)
    embeddings = 'embeddings' if stack == 'decoder' else 'embeddings_0'
    width = _shape(model, f'{stack}/{embeddings}/weight')[1]
    for table in ('embeddings_1/weight', 'position_encodings/encodings'):
        if f'{stack}/{table}' in model:
            _fits(model, f'{stack}/{table}', None, width)
    for name in model.arrays:
        if (
            name.startswith(f'{stack}/')
            and name.endswith(('/gamma', '/beta'))
            and model[name].shape != (width,)
        ):
            raise ValueError(f'{name} has not {width} values')
    heads = _number(model, f'{stack}/num_heads')
    for n in range(layers):
        _check_layer(model, f'{stack}/layer_{n}', width, heads)
    if stack == 'decoder':
        rows = _shape(model, 'decoder/embeddings/weight')[0]
        _fits(model, 'decoder/projection/weight', rows, width)
    elif 'pooler_dense/weight' in model:
        _fits(model, 'pooler_dense/weight', width, width)


def count_layers(model: Model, stack: str) -> int:
    """The number of a stack's layers, which all have the same parts."""
    parts: dict[int, set[str]] = {}
    for name in (*model.arrays, *model.aliases):
        match = _LAYER.fullmatch(name)
        if match and match[1] == stack:
            parts.setdefault(int(match[2]), set()).add(match[3])
        elif not match and not _OUTSIDE.fullmatch(name):
            raise ValueError(f'{name[:60]!r} is no part of such a model')
    if not parts or sorted(parts) != list(range(len(parts))):
        raise ValueError(f'a layer of the {stack} is missing')
    if any(part != parts[0] for part in parts.values()):
        raise ValueError(f'the layers of the {stack} have different parts')
    return len(parts)


def _check_layer(model: Model, layer: str, width: int, heads: int) -> None:
    """:param width: M, the size of a hidden state, which all parts read and give."""
    attention = f'{layer}/self_attention'
    queries = _shape(model, f'{attention}/linear_1/weight')[1]
    head_dim = f'{attention}/head_dim'
    if queries % heads or (
        head_dim in model and _number(model, head_dim) * heads != queries
    ):
        raise ValueError(f'{attention}: {queries} features for {heads} heads')
    _fits(model, f'{attention}/linear_1/weight', width, queries)
    key_heads = f'{attention}/num_heads_kv'
    keys = queries
    if key_heads in model:
        keys = queries // heads * _number(model, key_heads)
    _fits(model, f'{attention}/linear_0/weight', queries + 2 * keys, width)
    bias = f'{attention}/relative_attention_bias'
    if bias in model:
        buckets, bias_heads = _shape(model, bias)
        max_distance = _number(model, f'{attention}/relative_attention_max_distance')
        if bias_heads != heads or buckets < 4 or max_distance <= buckets // 2:
            raise ValueError(f'{bias} does not fit')
    cross_attention = f'{layer}/attention'
    if f'{cross_attention}/linear_0/weight' in model:
        encoder_width = _shape(model, 'encoder/embeddings_0/weight')[1]
        queries = _shape(model, f'{cross_attention}/linear_0/weight')[0]
        if queries % heads:
            raise ValueError(f'{cross_attention}: {queries} features for {heads} heads')
        _fits(model, f'{cross_attention}/linear_0/weight', queries, width)
        _fits(model, f'{cross_attention}/linear_1/weight', 2 * queries, encoder_width)
        _fits(model, f'{cross_attention}/linear_2/weight', width, queries)
    inner_width = _shape(model, f'{layer}/ffn/linear_0/weight')[0]
    _fits(model, f'{layer}/ffn/linear_0/weight', inner_width, width)
    _fits(model, f'{layer}/ffn/linear_1/weight', width, inner_width)
    if f'{layer}/ffn/linear_0_noact/weight' in model:
        _fits(model, f'{layer}/ffn/linear_0_noact/weight', inner_width, width)


def _shape(model: Model, name: str) -> tuple[int, int]:
    if name not in model or model[name].ndim != 2:
        raise ValueError(f'{name} is missing or no matrix')
    rows, columns = model[name].shape
    return rows, columns


def _number(model: Model, name: str) -> int:
    if name not in model or model[name].ndim:
        raise ValueError(f'{name} is missing or no number')
    return int(model[name].item())


def _fits(model: Model, name: str, rows: int | None, columns: int) -> None:
    shape = _shape(model, name)
    if shape[1] != columns or rows not in (None, shape[0]):
        raise ValueError(f'{name} is of the shape {shape}, not {(rows, columns)}')
