"""
Shows evidence on standard output, where ParlAI's interactive chat shows its replies: it
is part of the chat, not a log.
"""

import shutil
import sys
from typing import Any, Mapping

from parlai_q2.report.terminal import use_colour

# LocalHumanAgent's own option: only chats at a terminal have it. A chat in a browser
# has a port instead.
_TERMINAL_OPTION = 'local_human_candidates_file'
_BROWSER_OPTION = 'port'


def at_terminal(opt: Mapping[str, Any]) -> bool:
    """
    Whether a person reads standard output: true for ``parlai interactive``, false for
    its browser version.
    """
    return _TERMINAL_OPTION in opt and _BROWSER_OPTION not in opt


def colour() -> bool:
    return use_colour(sys.stdout)


def width() -> int:
    return shutil.get_terminal_size().columns


def show(text: str) -> None:
    """Write a text and a line end."""
    sys.stdout.write(f'{text}\n')
    sys.stdout.flush()
