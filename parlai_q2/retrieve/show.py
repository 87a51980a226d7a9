"""Shows the passages of a search in a terminal."""

import shutil
from collections.abc import Sequence
from textwrap import shorten, wrap

from parlai_q2.text.visible import one_line, source_line
from parlai_q2.turns import Passage

NO_HITS = 'Nothing was found.'
MAX_CHARACTERS = 400


def render_passages(
    passages: Sequence[Passage], scores: Sequence[float] = (), width: int = 0
) -> str:
    """
    Show passages with their sources, one below the other; what would take effect in a
    terminal is shown as escapes.

    :param scores: of each passage, where there are some.
    :param width: columns; 0: those of the terminal.
    """
    width = width or shutil.get_terminal_size().columns
    blocks = []
    for number, passage in enumerate(passages):
        head = source_line(passage.source) or one_line(passage.title)
        score = f' [{scores[number]:.2f}]' if scores else ''
        text = shorten(one_line(passage.text), MAX_CHARACTERS, placeholder=' ...')
        blocks.append('\n'.join([f'{number + 1}. {head}{score}', *_wrap(text, width)]))
    return '\n'.join(blocks) or NO_HITS


def _wrap(text: str, width: int) -> list[str]:
    return wrap(text, max(24, width), initial_indent='   ', subsequent_indent='   ')
