"""
Reads the tsv files of BEGIN, from the 2022 release and from the earlier one.

Fields are separated by tabs and never quoted: a quotation mark is an ordinary
character. The 2022 release has three labels. The 2021 release has five, and the
annotators' answers.
"""

from typing import Iterator

from parlai_q2.annotated_turn import AnnotatedTurn
from parlai_q2.errors import RecordError
from parlai_q2.records import Label

COLUMNS = (
    'model_name',
    'data_source',
    'knowledge',
    'message',
    'response',
    'begin_label',
)
EARLIER_COLUMNS = (
    'evidence',
    'previous turn',
    'response',
    'gold label',
    'coarse label',
    'full label set',
)

# The published labels, and the classes that they become here.
LABELS = {
    'Fully attributable': Label.CONSISTENT,
    'Not fully attributable': Label.INCONSISTENT,
    'Generic': Label.GENERIC,
}
# A response that is off the topic is not grounded in its knowledge either.
EARLIER_LABELS = {
    'entailment': Label.CONSISTENT,
    'contradiction': Label.INCONSISTENT,
    'hallucination': Label.INCONSISTENT,
    'generic': Label.GENERIC,
    'off-topic': Label.INCONSISTENT,
}


def read_file(path: str) -> list[AnnotatedTurn]:
    """
    Read a file of the 2022 release.

    :param path: the tsv file.
    :return: its rows, each a conversation of its own.
    :raises RecordError: when a column is missing or a row is broken.
    """
    turns = []
    for number, row in _rows(path, COLUMNS):
        label = row['begin_label'].strip()
        turns.append(
            AnnotatedTurn(
                text=row['message'].strip(),
                topic='',
                knowledge=row['knowledge'],
                passage=(row['knowledge'],),
                gold='',
                response=row['response'],
                label=_class_of(path, number, label, LABELS),
                episode=f'{row["data_source"]}-{number}',
                more={
                    'begin_label': label,
                    'system': row['model_name'],
                    'corpus': row['data_source'],
                },
            )
        )
    return turns


def read_earlier_file(path: str) -> list[AnnotatedTurn]:
    """
    Read a file of the 2021 release, all of whose rows come from Wizard of Wikipedia.

    :param path: the tsv file.
    :return: its rows, each a conversation of its own.
    :raises RecordError: when a column is missing or a row is broken.
    """
    turns = []
    for number, row in _rows(path, EARLIER_COLUMNS):
        label = row['gold label'].strip()
        turns.append(
            AnnotatedTurn(
                text=row['previous turn'].strip(),
                topic='',
                knowledge=row['evidence'],
                passage=(row['evidence'],),
                gold='',
                response=row['response'],
                label=_class_of(path, number, label, EARLIER_LABELS),
                episode=f'wow-{number}',
                more={
                    'begin_label': label,
                    'coarse_label': row['coarse label'].strip(),
                    'annotations': row['full label set'].strip().split(';'),
                    'corpus': 'wow',
                },
            )
        )
    return turns


def _rows(path: str, columns: tuple[str, ...]) -> Iterator[tuple[int, dict[str, str]]]:
    """
    A file's rows, each with its line number.
    """
    # Even without quoting, the csv module stops at a lone CR inside a field.
    with open(path, encoding='utf-8', newline='\n') as lines:
        header: list[str] = []
        number = 0
        try:
            for number, line in enumerate(lines, 1):
                fields = line.rstrip('\n').removesuffix('\r').split('\t')
                if not header:
                    header = fields
                    missing = [c for c in columns if c not in header]
                    if missing:
                        raise RecordError(path, 1, f'there is no column {missing[0]!r}')
                elif len(fields) == len(header):
                    yield number, dict(zip(header, fields))
                else:
                    raise RecordError(
                        path,
                        number,
                        f'the row has {len(fields)} fields, and the header '
                        f'{len(header)}',
                    )
        except UnicodeDecodeError as e:
            raise RecordError(path, number + 1, f'is not UTF-8: {e}') from e
    if not header:
        raise RecordError(path, 1, 'the file is empty')


def _class_of(path: str, number: int, label: str, classes: dict[str, str]) -> str:
    if label not in classes:
        raise RecordError(
            path, number, f'the label is {label!r}; it must be {", ".join(classes)}'
        )
    return classes[label]
