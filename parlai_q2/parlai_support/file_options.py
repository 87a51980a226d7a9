"""
The input and output files of a command.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from parlai_q2.errors import ConfigError


def given_files(opt: Mapping[str, Any]) -> tuple[Path, Path]:
    """
    ``--infile`` and ``--outfile``.

    They are checked here and not by the parser, which would refuse ``--help`` too.

    :param opt: ParlAI options.
    :raises ConfigError: when one is missing.
    """
    for name in ('infile', 'outfile'):
        if not opt.get(name):
            raise ConfigError(f'--{name} is missing. Give a file: --{name} FILE')
    return Path(opt['infile']), Path(opt['outfile'])
