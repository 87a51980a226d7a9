"""
Reads the files of Dialogue NLI (Welleck et al. 2019), which hold pairs of sentences by
Persona-Chat speakers.

ParlAI's own task ``dialogue_nli`` downloads one archive of 390 MB. Both tasks read it
from ``<datapath>/dialogue_nli``, where you can place its files by hand.

Although the published files are named ``.jsonl``, each is one JSON list. A pair has
``sentence1``, ``sentence2``, ``label`` (positive, neutral or negative), ``dtype`` and
``id``, and the triples that it was made from.
"""

from collections.abc import Sequence
from pathlib import Path

from parlai_q2.claims import Label
from parlai_q2.errors import TaskDataError
from parlai_q2.evaluate.sets import AnnotatedResponse, AnnotatedSet, select_words
from parlai_q2.io.data_sets import read_list, warn_of_count
from parlai_q2.json_values import JsonObject

HOME = 'https://wellecks.com/dialogue_nli/'
# The folders to look in: those of the archive, and that for files placed by hand.
FOLDERS = ('dnli/dialogue_nli', 'dialogue_nli', '')

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


def build(datapath: str, name: str) -> Path:
    """The path of a file of the archive; a TaskDataError when it cannot be fetched."""
    from parlai.tasks.dialogue_nli.build import build as build_dialogue_nli

    folder = Path(datapath, 'dialogue_nli')
    paths = [folder / inner / name for inner in FOLDERS]
    if not any(path.is_file() for path in paths):
        try:
            build_dialogue_nli({'datapath': datapath})
            if not any(path.is_file() for path in paths):
                raise FileNotFoundError(f'{name} is not in {folder}')
        except Exception as e:
            # ParlAI lets all errors of its network library through.
            raise TaskDataError(
                f'Could not get Dialogue NLI ({e}). Without a network, fetch its '
                f'archive elsewhere from {HOME}, unpack it and place {name} in '
                f'{folder}. Then run the command again.'
            ) from e
    return next(path for path in paths if path.is_file())


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
