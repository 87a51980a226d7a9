"""
Reads the csv files of the Q2 paper.

Four files hold one system's responses of one class each. ``cross_annotation.csv`` holds
both systems' responses to the same contexts, where a label of 1 means inconsistent.
"""

import csv
from typing import Iterator

from parlai_q2.errors import RecordError
from parlai_q2.parlai_support.annotated_task import AnnotatedTurn
from parlai_q2.records import Label

SYSTEMS = ('dodeca', 'memnet')
CONTEXT = ('episode_idx', 'round', 'topic', 'message', 'knowledge', 'gold')
_WRONG_LENGTH = 'the row has more or fewer fields than the header'
CROSS_LABELS = {'0': Label.CONSISTENT, '1': Label.INCONSISTENT}


def read_system_file(path: str, system: str, label: str) -> list[AnnotatedTurn]:
    """
    Read one system's responses of one class.

    :param path: the csv file.
    :param system: one of :data:`SYSTEMS`.
    :param label: the class of all its responses.
    :return: its rows, each a conversation of its own.
    :raises RecordError: when the file has no such columns, or a row is broken.
    """
    return [
        _turn(row, row['response'], system, label)
        for _, row in _rows(path, (*CONTEXT, 'response'))
    ]


def read_cross_file(path: str) -> list[AnnotatedTurn]:
    """
    Read the contexts for which both systems' responses were annotated.

    :param path: the csv file.
    :return: two turns a row, Dodeca's first.
    :raises RecordError: when the file has no such columns, or a row is broken.
    """
    columns = [f'{s}_{c}' for s in SYSTEMS for c in ('response', 'label')]
    turns = []
    for number, row in _rows(path, (*CONTEXT, *columns)):
        for system in SYSTEMS:
            label = CROSS_LABELS.get(row[f'{system}_label'].strip())
            if label is None:
                raise RecordError(
                    path,
                    number,
                    f'{system}_label is {row[f"{system}_label"]!r}; it must be 0 '
                    '(consistent) or 1 (inconsistent)',
                )
            turns.append(_turn(row, row[f'{system}_response'], system, label))
    return turns


def _rows(path: str, columns: tuple[str, ...]) -> Iterator[tuple[int, dict[str, str]]]:
    """
    A file's rows with the line each ends on; line breaks inside quotes are kept.
    """
    with open(path, encoding='utf-8', newline='') as lines:
        reader = csv.DictReader(lines, strict=True)
        missing = [c for c in columns if c not in (reader.fieldnames or [])]
        if missing:
            raise RecordError(path, 1, f'there is no column {missing[0]!r}')
        try:
            for row in reader:
                if None in row or None in row.values():
                    raise RecordError(path, reader.line_num, _WRONG_LENGTH)
                yield reader.line_num, row
        except (csv.Error, UnicodeDecodeError) as e:
            # DictReader's own count stops at the last good row.
            line = reader.reader.line_num
            raise RecordError(path, line, f'cannot be read as csv: {e}') from e


def _turn(row: dict[str, str], response: str, system: str, label: str) -> AnnotatedTurn:
    context = f'{row["episode_idx"]}-{row["round"]}'
    return AnnotatedTurn(
        text=row['message'].strip(),
        topic=row['topic'],
        knowledge=row['knowledge'],
        passage=(row['knowledge'],),
        gold=row['gold'].strip(),
        response=response,
        label=label,
        # Rows are single turns out of conversations that the files do not hold.
        episode=f'{context}-{system}',
        more={
            'system': system,
            'episode_idx': row['episode_idx'],
            'round': row['round'],
        },
    )
