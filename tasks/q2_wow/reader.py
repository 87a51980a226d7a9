"""
Reads the csv files of the Q2 paper.

Four files each hold one system's responses of one class. ``cross_annotation.csv`` holds
both systems' responses to the same contexts; there, a label of 1 means inconsistent.
"""

from parlai_q2.annotated_turn import AnnotatedTurn
from parlai_q2.errors import RecordError
from parlai_q2.io.tables import read_rows
from parlai_q2.records import Label

SYSTEMS = ('dodeca', 'memnet')
CONTEXT = ('episode_idx', 'round', 'topic', 'message', 'knowledge', 'gold')
CROSS_LABELS = {'0': Label.CONSISTENT, '1': Label.INCONSISTENT}


def read_system_file(path: str, system: str, label: str) -> list[AnnotatedTurn]:
    """
    Read one system's responses of one class.

    :param path: the csv file.
    :param system: one of :data:`SYSTEMS`.
    :param label: the class of all its responses.
    :return: its rows, each a conversation of its own.
    :raises RecordError: when a column is missing or a row is broken.
    """
    return [
        _turn(row, row['response'], system, label)
        for _, row in read_rows(path, (*CONTEXT, 'response'))
    ]


def read_cross_file(path: str) -> list[AnnotatedTurn]:
    """
    Read the contexts for which both systems' responses were annotated.

    :param path: the csv file.
    :return: two turns for each row, Dodeca's first.
    :raises RecordError: when a column is missing or a row is broken.
    """
    columns = [f'{s}_{c}' for s in SYSTEMS for c in ('response', 'label')]
    turns = []
    for number, row in read_rows(path, (*CONTEXT, *columns)):
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
        # Rows are single turns from conversations that are not in the files.
        episode=f'{context}-{system}',
        more={
            'system': system,
            'episode_idx': row['episode_idx'],
            'round': row['round'],
        },
    )
