"""
Shows evidence in a terminal, as ParlAI's interactive chat shows replies: on standard
output, since it is part of the chat and no log.
"""

import shutil
import sys
from typing import Any, Mapping

from parlai_q2.report.terminal import use_colour

# LocalHumanAgent's own option: only chats at a terminal have it, and no port to listen
# on.
_TERMINAL_OPTION = 'local_human_candidates_file'
_BROWSER_OPTION = 'port'


def at_terminal(opt: Mapping[str, Any]) -> bool:
    """
    Whether a person reads standard output: ``parlai interactive``, not its web twin.

    :param opt: the agent's options.
    """
    return _TERMINAL_OPTION in opt and _BROWSER_OPTION not in opt


def colour() -> bool:
    """
    Whether standard output takes colour.
    """
    return use_colour(sys.stdout)


def width() -> int:
    """
    Columns of the terminal; 80 where there is none.
    """
    return shutil.get_terminal_size().columns


def show(text: str) -> None:
    """
    Write a text on lines of its own.
    """
    sys.stdout.write(f'{text}\n')
    sys.stdout.flush()
