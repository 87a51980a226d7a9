"""Writes the source of a passage in one line."""

from parlai_q2.text.visible import one_line
from parlai_q2.turns import Source


def source_line(source: Source | None) -> str:
    """
    A source in one line; empty for none.

    >>> source_line(Source('manual.md', 'Pumps > Warranty', 'lines 4-9'))
    'manual.md, Pumps > Warranty (lines 4-9)'
    """
    if source is None:
        return ''
    named = ', '.join(one_line(part) for part in (source.file, source.heading) if part)
    return f'{named} ({one_line(source.place)})' if source.place else named
