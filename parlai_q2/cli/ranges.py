"""
The valid ranges of the reranking options.

The command line's parser checks typed values. Values from ``--init-opt``, a model
file's options or a program never pass through it, so they are checked where they are
used.
"""

import argparse
from typing import Any, Callable, Mapping

from parlai_q2.errors import ConfigError

Read = Callable[[str], Any]


def _number(kind: Read, text: str) -> Any:
    try:
        return kind(text)
    except ValueError:
        word = 'whole number' if kind is int else 'number'
        raise argparse.ArgumentTypeError(f'{text!r} is not a {word}') from None


def _from(kind: Read, least: float) -> Read:
    def read(text: str) -> Any:
        value = _number(kind, text)
        if not value >= least:
            raise argparse.ArgumentTypeError(f'{text} is less than {least}')
        return value

    return read


def _share(text: str) -> float:
    value = _number(float, text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f'{text} is not in [0, 1]')
    return value


def _mass(text: str) -> float:
    value = _share(text)
    if not value:
        raise argparse.ArgumentTypeError(f'{text} is not in (0, 1]')
    return value


# For each option, the function that reads it or reports what is wrong with it.
RANGES: Mapping[str, Read] = {
    'rerank_topk': _from(int, 1),
    'rerank_topp': _mass,
    'rerank_beam_delay': _from(int, 0),
    'rerank_tolerance': _share,
    'abstain_below': _share,
    'prefilter_keep': _from(int, 1),
    'copy_penalty': _from(float, 0),
    'generic_penalty': _from(float, 0),
}


def check_ranges(opt: Mapping[str, Any]) -> None:
    """
    Check the options that are present; errors are worded as the parser words them.

    :raises ConfigError: when one is out of its range or is not a number.
    """
    for name, read in RANGES.items():
        value = opt.get(name)
        if value is None:
            continue
        try:
            # A number in quotes is text, and nothing will convert it to a number later.
            read(repr(value) if isinstance(value, str) else str(value))
        except argparse.ArgumentTypeError as e:
            raise ConfigError(f'argument --{name.replace("_", "-")}: {e}') from None
