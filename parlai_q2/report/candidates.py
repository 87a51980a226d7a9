"""Explains in words why a reranked candidate has its place."""

from typing import Any, Mapping, Optional, Sequence

from parlai_q2.io.strict_json import is_number
from parlai_q2.text.visible import one_line


def notes_of(row: Mapping[str, Any]) -> list[str]:
    """
    Notes on why a candidate has its place.

    :param row: a candidate as the reranking agent's evidence has it: ``reason``, and
        possibly ``guards`` with ``guarded_score``, ``parts``, ``prefilter_score``, and
        ``q2_label`` (a human label).
    :return: short notes, usually none or one.
    """
    notes = []
    if row.get('reason'):
        notes.append(one_line(str(row['reason'])))
    guards, counted = row.get('guards') or (), row.get('guarded_score')
    if guards and counted is not None and counted != row.get('score'):
        names = ' and '.join(one_line(str(guard)) for guard in guards)
        notes.append(f'counted as {counted:.2f}, as a {names}')
    parts = row.get('parts')
    unread = parts.get('unread') if isinstance(parts, Mapping) else None
    if is_number(unread) and unread:
        notes.append(f'{unread:.0%} of a text not read')
    if row.get('score') is None and row.get('prefilter_score') is not None:
        notes.append(f'pruned by the prefilter, {row["prefilter_score"]:.2f}')
    if row.get('q2_label'):
        notes.append(f'annotation {one_line(str(row["q2_label"]))}')
    return notes


def before_and_after(
    candidates: Sequence[Mapping[str, Any]],
) -> tuple[Optional[Mapping[str, Any]], Optional[Mapping[str, Any]]]:
    """
    The generator's first candidate and the chosen one.

    :param candidates: the candidates of one turn.
    :return: both, which are the same object when the first was chosen; each may be
        None.
    """
    first = next((c for c in candidates if c.get('first')), None)
    chosen = next((c for c in candidates if c.get('chosen')), None)
    return first, chosen
