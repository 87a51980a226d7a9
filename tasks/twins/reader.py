"""Reads the sheet of twins, which ships with the package."""

import json
from pathlib import Path
from typing import Any, Mapping, Sequence

from parlai_q2.errors import RecordError
from parlai_q2.evaluate.sets import (
    BINARY,
    AnnotatedResponse,
    AnnotatedSet,
    chosen_words,
)

SHEET = Path(__file__).parent / 'twins.jsonl'
# The responses of a twin, in the order in which they are read, with their classes.
SIDES = dict(zip(('right', 'wrong'), BINARY, strict=True))
# The kinds of mistakes, as words of a task string and as the sheet has them.
KINDS = {
    'turned_round': 'turned round',
    'units': 'units',
    'numbers': 'numbers',
    'comparisons': 'comparisons',
    'quantifiers': 'quantifiers',
    'negation': 'negation and modality',
    'time': 'time',
    'binding': 'binding',
    'relation': 'relation',
    'qualifiers': 'qualifiers',
    'one_of_two': 'one of two parts wrong',
    'chat': 'chat with a claim',
    'permission': 'permission, offer, yes',
}
CLASSES = BINARY
GROUPS = {'class': BINARY, 'kind': tuple(KINDS)}


def annotated_set(datapath: str, words: Sequence[str]) -> AnnotatedSet:
    """The twins of the kinds that words choose; each kind is a corpus."""
    return AnnotatedSet('twins', 'twins', tuple(read_part(datapath, words)))


def read_part(datapath: str, words: Sequence[str] = ()) -> list[AnnotatedResponse]:
    """
    Read the chosen responses, each right one before its wrong one.

    :param datapath: not used, as the sheet ships with the package.
    :param words: classes and kinds, in any order; none for all.
    :raises UnknownNameError: for a word that is neither.
    """
    chosen = chosen_words('twins', words, GROUPS)
    labels = chosen['class'] or BINARY
    kinds = [KINDS[word] for word in chosen['kind'] or KINDS]
    return [
        response
        for response in read_sheet()
        if response.label in labels and response.corpus in kinds
    ]


def read_sheet(path: Path = SHEET) -> list[AnnotatedResponse]:
    """
    Read a file in the format of ``twins.jsonl``.

    :raises RecordError: for a line that is not such a record; it names the line.
    """
    found: list[AnnotatedResponse] = []
    with path.open(encoding='utf-8') as lines:
        for number, line in enumerate(lines, 1):
            try:
                found += _twin(json.loads(line))
            except (KeyError, TypeError, ValueError) as e:
                raise RecordError(
                    str(path), number, f'not a record of twins: {e!r}'
                ) from e
    return found


def _twin(record: Mapping[str, Any]) -> list[AnnotatedResponse]:
    kind = record['kind']
    if kind not in KINDS.values():
        raise ValueError(f'no kind {kind!r}')
    return [
        AnnotatedResponse(
            record['knowledge'],
            record[side],
            label,
            corpus=kind,
            system=side,
            turn=str(record['id']),
            episode=f'{record["id"]}-{side}',
            text=''.join(record['history'][-1:]),
            gold=record['right'],
            more={'twin': record['id']},
        )
        for side, label in SIDES.items()
    ]
