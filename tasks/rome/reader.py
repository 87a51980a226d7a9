"""
Reads the annotation files of "Rome was built in 1776".

A row has the conversation so far, the knowledge, one generator's response, and three
judgements:

- whether there is anything to verify;
- how factual the response is according to its knowledge (the mean of three annotators,
  who could say 0, 0.5 or 1);
- whether it makes up more than conversation and knowledge provide (the majority of
  three).

The crowd gave the last two only for verifiable responses.
"""

import math
from typing import Optional

from parlai_q2.annotated_turn import AnnotatedTurn
from parlai_q2.errors import RecordError
from parlai_q2.io.tables import read_rows
from parlai_q2.records import Label

FACTUAL, HALLUCINATION = 'Avg Factual Correctness', 'Hallucination'
COLUMNS = (
    'conv_index',
    'model_type',
    'decoding',
    'context',
    'knowledge',
    'response',
    FACTUAL,
    HALLUCINATION,
    'Verifiable',
)

# The words of the files, with their names in a task string. The order is that of a
# pool's candidates: the generator you would choose comes first.
MODELS = {
    'GPT2-xlarge': 'xlarge',
    'GPT2-large': 'large',
    'GPT2-medium': 'medium',
    'GPT2-small': 'small',
}
DECODINGS = {'beam search': 'beam', 'DBS': 'delayed', 'nucleus': 'nucleus'}
YES_NO = {'yes': True, 'no': False, 'y': True, 'n': False, '': None}
TURN_END = '<br>'


def read_file(path: str, part: str) -> list[AnnotatedTurn]:
    """
    Read one file.

    :param path: the csv file.
    :param part: the part's name, which the turns keep.
    :return: its rows, each a conversation of its own. A verifiable response without a
        judgement has an empty label.
    :raises RecordError: when a column is missing or a row is broken.
    """
    turns = []
    for number, row in read_rows(path, COLUMNS):
        history = history_of(row['context'])
        verifiable = _answer(path, number, row, 'Verifiable')
        hallucination = _answer(path, number, row, HALLUCINATION)
        knowledge = row['knowledge'].strip()
        turns.append(
            AnnotatedTurn(
                text='\n'.join(history),
                topic='',
                knowledge=knowledge,
                passage=(knowledge,),
                gold='',
                response=row['response'].strip(),
                label=class_of(verifiable, hallucination),
                episode=f'{part}-{number}',
                more={
                    'part': part,
                    'conv_index': row['conv_index'],
                    'history': list(history),
                    'model': _known(path, number, row['model_type'], MODELS),
                    'decoding': _known(path, number, row['decoding'], DECODINGS),
                    'verifiable': verifiable,
                    'factual': _factual(path, number, row[FACTUAL]),
                    'hallucination': hallucination,
                },
            )
        )
    return turns


def class_of(verifiable: Optional[bool], hallucination: Optional[bool]) -> str:
    """
    The class of a response.

    :return: ``generic`` where there is nothing to verify; otherwise ``inconsistent`` if
        the response is a hallucination and ``consistent`` if not; empty where nobody
        judged it.
    """
    if verifiable is False:
        return Label.GENERIC
    if verifiable is None or hallucination is None:
        return ''
    return Label.INCONSISTENT if hallucination else Label.CONSISTENT


def history_of(context: str) -> tuple[str, ...]:
    """
    The turns so far, without the speakers' names.

    :param context: ``A: ...<br>B: ...<br>``.
    :return: the turns, oldest first.
    """
    turns = (turn.strip() for turn in context.split(TURN_END))
    return tuple(
        turn[2:].strip() if turn[:2] in ('A:', 'B:') else turn for turn in turns if turn
    )


def _answer(path: str, number: int, row: dict[str, str], column: str) -> Optional[bool]:
    given = row[column].strip().lower()
    if given not in YES_NO:
        raise RecordError(path, number, f'{column} is {row[column]!r}, not yes or no')
    return YES_NO[given]


def _known(path: str, number: int, given: str, names: dict[str, str]) -> str:
    if given.strip() not in names:
        raise RecordError(path, number, f'{given!r} is not one of {", ".join(names)}')
    return names[given.strip()]


def _factual(path: str, number: int, given: str) -> Optional[float]:
    if not given.strip():
        return None
    try:
        value = float(given)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 1:
        raise RecordError(path, number, f'{FACTUAL} is {given!r}, not in [0, 1]')
    return value
