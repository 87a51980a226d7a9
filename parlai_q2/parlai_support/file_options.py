"""
The input and output files of a command.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from parlai_q2.errors import ConfigError


def given_file(opt: Mapping[str, Any], name: str, example: str = 'FILE') -> Path:
    """
    The file that an option names.

    It is checked here and not by the parser, which would refuse ``--help`` too.

    :param opt: ParlAI options.
    :param name: of the option, e.g. ``outfile``.
    :param example: a file, for the message.
    :raises ConfigError: when it is missing.
    """
    if not opt.get(name):
        raise ConfigError(f'--{name} is missing. Give a file: --{name} {example}')
    return Path(opt[name])


def given_files(opt: Mapping[str, Any]) -> tuple[Path, Path]:
    """
    ``--infile`` and ``--outfile``.

    :param opt: ParlAI options.
    :raises ConfigError: when one is missing.
    """
    return given_file(opt, 'infile'), given_file(opt, 'outfile')
