"""
Reads the files of Dialogue NLI, which hold pairs of sentences by Persona-Chat speakers.

Although the published files are named ``.jsonl``, each is one JSON list; a file with a
pair on each line is read too. A pair has ``sentence1``, ``sentence2``, ``label``
(positive, neutral or negative), ``dtype`` and ``id``, and the triples that it was made
from.
"""

import json
from typing import Any, Iterator

from parlai_q2.annotated_turn import AnnotatedTurn
from parlai_q2.errors import RecordError
from parlai_q2.records import Label

SENTENCES = ('sentence1', 'sentence2')
# Neutral counts as inconsistent (Honovich et al. 2021, the setup of Table 6).
LABELS = {
    'positive': Label.CONSISTENT,
    'neutral': Label.INCONSISTENT,
    'negative': Label.INCONSISTENT,
}
# The endings of a dtype: the first sentence is an utterance and the second belongs to
# the persona; both are utterances; or both belong to the persona.
KINDS = ('up', 'uu', 'pp')
# The prefix with which Persona-Chat shows a model its persona.
PERSONA = 'your persona: '


def read_file(path: str, knowledge: str = 'sentence2') -> list[AnnotatedTurn]:
    """
    Read one file.

    :param path: the file.
    :param knowledge: the sentence that is the knowledge, one of :data:`SENTENCES`; the
        other one is the response.
    :return: its pairs, each a conversation of its own. A response that agrees also
        counts as a person's reply.
    :raises RecordError: when the file has another format; the line is the pair's
        number.
    """
    (response,) = (name for name in SENTENCES if name != knowledge)
    turns = []
    for number, pair in _pairs(path):
        try:
            turns.append(_turn(pair, number, knowledge, response))
        except (KeyError, TypeError, ValueError, AttributeError) as e:
            raise RecordError(
                path, number, f'(pair {number}) is not a pair of Dialogue NLI: {e!r}'
            ) from e
    return turns


def kind_of(dtype: str) -> str:
    """
    The ending of a dtype: in the published files, one of :data:`KINDS`.
    """
    return dtype.rpartition('_')[2]


def _pairs(path: str) -> Iterator[tuple[int, Any]]:
    number = 1
    try:
        with open(path, encoding='utf-8') as stream:
            one_list = stream.read(1) == '['
            stream.seek(0)
            if one_list:
                yield from enumerate(json.load(stream), 1)
                return
            for number, line in enumerate(stream, 1):
                if line.strip():
                    yield number, json.loads(line)
    except ValueError as e:
        raise RecordError(path, number, f'cannot be read as JSON: {e}') from e


def _turn(
    pair: dict[str, Any], number: int, knowledge: str, response: str
) -> AnnotatedTurn:
    if pair['label'] not in LABELS:
        raise ValueError(f'label {pair["label"]!r} is not one of {", ".join(LABELS)}')
    label = LABELS[pair['label']]
    stay_with, said = pair[knowledge].strip(), pair[response].strip()
    kind = kind_of(pair['dtype'])
    spoken = kind == 'uu' or (kind == 'up' and knowledge == SENTENCES[0])
    return AnnotatedTurn(
        text=stay_with if spoken else PERSONA + stay_with,
        topic='',
        knowledge=stay_with,
        passage=(stay_with,),
        gold=said if label == Label.CONSISTENT else '',
        response=said,
        label=label,
        episode=str(pair.get('id') or number),
        more={
            'pair_id': str(pair.get('id') or number),
            'nli_label': pair['label'],
            'dtype': pair['dtype'],
        },
    )
