"""Reads the sheet of twins, which ships with the package."""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from parlai_q2.evaluate.sets import (
    BINARY,
    AnnotatedResponse,
    AnnotatedSet,
    one_fold,
    select_words,
)
from parlai_q2.io.data_sets import read_json_lines
from parlai_q2.json_values import JsonObject

SHEET = Path(__file__).parent / 'twins.jsonl'
FOLD = 'fold'
# The responses of a twin, in the order in which they are read, with their classes.
SIDES = dict(zip(('right', 'wrong'), BINARY, strict=True))
# The kinds of mistakes: their words in a task string, and their names in the sheet.
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
# The fold by which the shipped detector was chosen, and the fold held out until then.
FOLDS = ('dev', 'test')
GROUPS = {'class': BINARY, 'kind': tuple(KINDS), 'fold': FOLDS}


def annotated_set(datapath: str, words: Sequence[str]) -> AnnotatedSet:
    """
    Return the twins of one fold (``dev``, or the one that a word names) and of the
    chosen kinds; each kind is a corpus.

    :raises ConfigError: if words name both folds.
    """
    fold = one_fold(words, FOLDS)
    responses = read_part(datapath, words, fold)
    return AnnotatedSet(
        'twins', f'twins {fold}', tuple(responses), fitted_on=fold == FOLDS[0]
    )


def read_part(
    datapath: str, words: Sequence[str] = (), fold: str = FOLDS[0]
) -> list[AnnotatedResponse]:
    """
    Read the responses of classes, kinds and folds, each right one before its wrong one.
    """
    chosen = select_words('twins', words, GROUPS)
    labels, folds = chosen['class'] or BINARY, chosen['fold'] or [fold]
    kinds = [KINDS[word] for word in chosen['kind'] or KINDS]
    return [
        response
        for response in read_sheet()
        if response.label in labels
        and response.corpus in kinds
        and response.extra[FOLD] in folds
    ]


def read_sheet(path: Path = SHEET) -> list[AnnotatedResponse]:
    """Read a file in the format of ``twins.jsonl``; a RecordError names a bad line."""
    return [*chain.from_iterable(read_json_lines(path, 'twins', _twin))]


def _twin(record: JsonObject) -> list[AnnotatedResponse]:
    kind, fold = record['kind'], record[FOLD]
    if kind not in KINDS.values() or fold not in FOLDS:
        raise ValueError(f'no kind {kind!r} or no fold {fold!r}')
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
            extra={'twin': record['id'], FOLD: fold},
        )
        for side, label in SIDES.items()
    ]
