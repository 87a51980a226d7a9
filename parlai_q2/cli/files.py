"""The input and output files of a command."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from parlai_q2.errors import ConfigError


def given_file(opt: Mapping[str, Any], name: str, example: str = 'FILE') -> Path:
    """
    The file that an option names, e.g. ``outfile``. It is checked here because the
    parser would also refuse ``--help`` without it.

    :raises ConfigError: when the option is missing.
    """
    if not opt.get(name):
        raise ConfigError(f'--{name} is missing. Give a file: --{name} {example}')
    return Path(opt[name])


def given_files(opt: Mapping[str, Any]) -> tuple[Path, Path]:
    """``--infile`` and ``--outfile``, like :func:`given_file`."""
    return given_file(opt, 'infile'), given_file(opt, 'outfile')
