"""
Reads the files of Dialogue NLI, which hold pairs of sentences by Persona-Chat speakers.

Although the published files are named ``.jsonl``, each is one JSON list. A pair has
``sentence1``, ``sentence2``, ``label`` (positive, neutral or negative), ``dtype`` and
``id``, and the triples that it was made from.
"""

from collections.abc import Sequence
from pathlib import Path

from parlai_q2.claims import Label
from parlai_q2.evaluate.sets import AnnotatedResponse, AnnotatedSet, select_words
from parlai_q2.io.data_sets import read_list, warn_of_count
from parlai_q2.json_values import JsonObject
from parlai_q2.tasks.dialogue_nli.build import build

# The utterance is the response; the second sentence, the persona's if the pair has one,
# is the knowledge.
RESPONSE, KNOWLEDGE = 'sentence1', 'sentence2'
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

CLASSES = (Label.CONSISTENT, Label.INCONSISTENT)
# Each set's file and its number of pairs (Welleck et al. 2019).
FILES = {
    'train': ('dialogue_nli_train.jsonl', 310_110),
    'dev': ('dialogue_nli_dev.jsonl', 16_500),
    'test': ('dialogue_nli_test.jsonl', 16_500),
    'gold': ('dialogue_nli_verified_test.jsonl', 12_376),
}
GROUPS = {'set': [*FILES], 'class': CLASSES, 'kind': KINDS}


def annotated_set(datapath: str, words: Sequence[str]) -> AnnotatedSet:
    """Return the chosen pairs; the word ``gold`` chooses the verified test set."""
    pairs = read_part(datapath, words)
    return AnnotatedSet('dialogue_nli', 'Dialogue NLI', tuple(pairs))


def read_part(
    datapath: str, words: Sequence[str] = (), fold: str = 'dev'
) -> list[AnnotatedResponse]:
    """Read the pairs of sets, classes and kinds as responses, set by set."""
    chosen = select_words('dialogue_nli', words, GROUPS)
    responses = []
    for name in chosen['set'] or [fold]:
        file, published = FILES[name]
        pairs = read_file(build(datapath, file))
        warn_of_count(file, 'pairs', len(pairs), published)
        responses += pairs
    return [
        response
        for response in responses
        if response.label in (chosen['class'] or CLASSES)
        and (not chosen['kind'] or read_kind(response.extra['dtype']) in chosen['kind'])
    ]


def read_file(path: Path) -> list[AnnotatedResponse]:
    """
    Read the pairs of a file, each a conversation; a response that agrees also counts as
    a human reply.

    :raises RecordError: with the pair's number, if the format is wrong.
    """
    return read_list(path, 'pair', 'Dialogue NLI', _turn)


def read_kind(dtype: str) -> str:
    """Return the ending of a dtype: in the published files, one of :data:`KINDS`."""
    return dtype.rpartition('_')[2]


def _turn(pair: JsonObject, number: int) -> AnnotatedResponse:
    if pair['label'] not in LABELS:
        raise ValueError(f'label {pair["label"]!r} is not one of {", ".join(LABELS)}')
    label = LABELS[pair['label']]
    stay_with, response = pair[KNOWLEDGE].strip(), pair[RESPONSE].strip()
    spoken = read_kind(pair['dtype']) == 'uu'
    return AnnotatedResponse(
        text=stay_with if spoken else PERSONA + stay_with,
        knowledge=stay_with,
        gold=response if label == Label.CONSISTENT else '',
        response=response,
        label=label,
        episode=str(pair.get('id') or number),
        extra={
            'pair_id': str(pair.get('id') or number),
            'nli_label': pair['label'],
            'dtype': pair['dtype'],
        },
    )
