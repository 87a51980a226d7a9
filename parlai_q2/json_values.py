"""
Reads, checks and writes JSON.

The standard (RFC 8259) has no NaN and Infinity. The ``json`` of Python reads and writes
both, and reads ``1e400`` as Infinity; ``jq`` and browsers refuse a line with them.
Here null replaces such a number, when it is read and when it is written, and readers
name the fields that had one.

For values whose types are not known, a function for each type gives the value of a
field as that type, or raises an InputError that names the field.
"""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from parlai_q2.errors import InputError
from parlai_q2.options import W
from parlai_q2.turns import Span

# A JSON object that this package made or checked. The fields of a JsonMapping have
# unknown types until one of the functions below reads them.
JsonObject = dict[str, Any]
JsonMapping = Mapping[str, object]
# Probabilities in fp32 may sum to a little more than 1.
ROUNDING = 1e-6


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a finite number that a float can hold."""
    # In Python, a bool is an int.
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer of hundreds of digits
        return False


def mapping(value: object, what: str) -> JsonMapping:
    if not isinstance(value, Mapping):
        raise InputError(f'{what} must be an object, not {type(value).__name__}')
    return value


def text_in(fields: JsonMapping, name: str, default: str | None = None) -> str:
    """A text; an InputError if it is missing and there is no default."""
    value = fields.get(name)
    if value is None and default is not None:
        return default
    if not isinstance(value, str):
        problem = 'missing' if name not in fields else f'a {type(value).__name__}'
        raise InputError(f'{name!r} must be a string and is {problem}')
    return value


def word_in(fields: JsonMapping, name: str, kind: type[W]) -> W:
    value = fields.get(name)
    for word in kind:
        if value == word:
            return word
    raise InputError(f'{name!r} must be one of {", ".join(kind)} and is {value!r}')


def unit_in(fields: JsonMapping, name: str) -> float:
    value = fields.get(name)
    if not is_number(value) or not -ROUNDING <= value <= 1 + ROUNDING:
        raise InputError(f'{name!r} must be in [0, 1] and is {value!r}')
    return float(value)


def number_in(fields: JsonMapping, name: str) -> float:
    value = fields.get(name)
    if not is_number(value):
        raise InputError(f'{name!r} must be a number and is {value!r}')
    return float(value)


def list_in(fields: JsonMapping, name: str) -> Sequence[Any]:
    """A list; empty if there is none."""
    value = fields.get(name)
    if value is not None and not isinstance(value, (list, tuple)):
        raise InputError(f'{name!r} must be a list, not {type(value).__name__}')
    return value or ()


def numbers_in(fields: JsonMapping, name: str) -> dict[str, float]:
    """Numbers by name; those that are null are left out."""
    value = fields.get(name)
    if value is None:
        return {}
    numbers = {}
    for key, number in mapping(value, repr(name)).items():
        if is_number(number):
            numbers[str(key)] = number
        elif number is not None:
            raise InputError(f'{name!r} must have numbers and is {str(value)[:60]}')
    return numbers


def span_in(fields: JsonMapping) -> Span:
    """A span: its text in the field ``text``, its offsets in ``span``."""
    offsets = fields.get('span')
    if (
        not isinstance(offsets, (list, tuple))
        or len(offsets) != 2
        or not all(type(offset) is int for offset in offsets)
    ):
        raise InputError(f"'span' must be two whole numbers and is {offsets!r}")
    return Span(text_in(fields, 'text'), *offsets)


def read_json(text: str | bytes | bytearray) -> tuple[Any, tuple[str, ...]]:
    """
    Parse JSON; return the value and the fields that had NaN or Infinity, with dots
    between the names of nested ones. RecursionError when it is nested too deep.
    """
    odd = []

    def number(written: str) -> float:
        value = float(written)
        if not math.isfinite(value):
            odd.append(written)
        return value

    value = json.loads(text, parse_float=number, parse_constant=number)
    if not odd:
        return value, ()
    names: dict[str, None] = {}
    return _finite(value, '', names), tuple(names)


def write_json(value: Any, **options: Any) -> str:
    """Write JSON; ``options`` are those of ``json.dumps``."""
    try:
        return json.dumps(value, allow_nan=False, **options)
    except ValueError:
        return json.dumps(_finite(value, '', {}), allow_nan=False, **options)


def _finite(value: object, name: str, names: dict[str, None]) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        names[name] = None
        return None
    if isinstance(value, dict):
        return {
            k: _finite(v, f'{name}.{k}' if name else str(k), names)
            for k, v in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_finite(inner, name, names) for inner in value]
    return value
