"""
JSON as its standard has it (RFC 8259), without NaN and Infinity.

Python's ``json`` reads and writes both, and reads ``1e400`` as Infinity; ``jq`` and
browsers refuse a line with them. Here null replaces such a number, when
it is read and when it is written, and readers name the fields that had one.
"""

import json
import math
from typing import Any


def read_json(text: str) -> tuple[Any, tuple[str, ...]]:
    """
    Parse JSON.

    :return: the value, and the fields that had NaN or Infinity, with dots between the
        names of nested ones.
    :raises ValueError: when it is not JSON.
    :raises RecursionError: when it is nested too deep.
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


def _finite(value: Any, name: str, names: dict[str, None]) -> Any:
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
