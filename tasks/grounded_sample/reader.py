"""Reads the sample, which ships with the package."""

from collections.abc import Sequence
from pathlib import Path

from parlai_q2.errors import UnknownNameError
from parlai_q2.evaluate.sets import CLASSES, AnnotatedResponse, AnnotatedSet
from parlai_q2.io.data_sets import read_json_lines
from parlai_q2.json_values import JsonObject

SAMPLE = Path(__file__).parent / 'sample.jsonl'
ALL_FOLDS = 'all'
GROUPS = {'class': CLASSES}


def annotated_set(datapath: str, words: Sequence[str]) -> AnnotatedSet:
    """Return the evaluation turns that words choose."""
    return AnnotatedSet(
        'grounded_sample', 'the grounded sample', tuple(read_part(datapath, words))
    )


def read_part(
    datapath: str, words: Sequence[str], fold: str = 'eval'
) -> list[AnnotatedResponse]:
    """Read the turns of classes or conversations by name; ``all`` is for both folds."""
    responses, words = read_sample(), [word.lower() for word in words]
    names = list(dict.fromkeys(response.episode for response in responses))
    for word in words:
        if word not in (*CLASSES, ALL_FOLDS, *names):
            raise UnknownNameError(
                'class or conversation', word, (*CLASSES, ALL_FOLDS, *names)
            )
    classes = [w for w in words if w in CLASSES] or CLASSES
    chosen = [w for w in words if w in names]
    every = bool(chosen) or ALL_FOLDS in words
    chosen = chosen or names
    chosen_responses = [
        response
        for response in responses
        if (every or response.extra['fold'] == fold)
        and response.label in classes
        and response.episode in chosen
    ]
    return sorted(chosen_responses, key=lambda response: chosen.index(response.episode))


def read_sample(path: Path = SAMPLE) -> list[AnnotatedResponse]:
    """Read a file in the format of ``sample.jsonl``; a RecordError names a bad line."""
    return read_json_lines(path, 'the sample', _response)


def _response(record: JsonObject) -> AnnotatedResponse:
    return AnnotatedResponse(
        text=record['message'],
        topic=record['topic'],
        knowledge=record['knowledge'],
        passage=tuple(record['passage']),
        gold=record['gold'],
        response=record['response'],
        label=record['class'],
        dialogue=record['id'].rpartition('-')[0],
        turn=record['id'].rpartition('-')[2],
        # A record's id is its conversation's name and the turn's number.
        episode=record['id'].rpartition('-')[0],
        extra={'kind': record['kind'], 'fold': record['fold'], 'turn_id': record['id']},
    )
