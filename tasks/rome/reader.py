"""
Reads the annotation files of "Rome was built in 1776".

A row has the conversation so far, the knowledge, one generator's response, and whether
there is anything to verify; how factual the response is (the mean of three annotators,
who could say 0, 0.5 or 1); and whether it makes up more than conversation and knowledge
provide (the majority of three). The crowd annotated the last two only if there is
something to verify.

The files are from one commit of the authors' repository. It publishes no checksums, so
these were computed from copies.
"""

import logging
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from parlai_q2.claims import Label
from parlai_q2.errors import ConfigError, RecordError
from parlai_q2.evaluate.sets import AnnotatedResponse, AnnotatedSet, select_words
from parlai_q2.io.data_sets import fetch_files, list_files, read_rows

SOURCE = (
    'https://raw.githubusercontent.com/alexa/factual-consistency-analysis-of-dialogs/'
    'bcd3592e3f1eb3875916b43504bf9d1a5d7ffd2e/human_annotations/'
)
CHECKSUMS = """
factual_dataset_expert.csv
2b6d8edc1bc0b774a328e56a0ce0af2b033c621779b91201ca43b1ccbdd544a7
factual_dataset_crowd/gt.csv
919707863654b3dc5b59bc58dbd0d80aeadceed391c09b27f1c1d0807a01a2d3
factual_dataset_crowd/knn.csv
18954592325b783339427bfa5d814d254762ec679d34571d9d340d9511a4e93f
factual_dataset_crowd/dpr.csv
0356b589903887fdfbed625c46abcb23098a50364d34d92ca68e02adfd22b9ea
"""
PUBLISHED = list_files(SOURCE, CHECKSUMS)

# Fetches the needed files into the task's folder.
build = partial(fetch_files, task='rome', files=PUBLISHED)

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

# The words in the files, with their names in a task string. Candidates of a pool have
# the same order, the best generator first.
MODELS = {
    'GPT2-xlarge': 'xlarge',
    'GPT2-large': 'large',
    'GPT2-medium': 'medium',
    'GPT2-small': 'small',
}
DECODINGS = {'beam search': 'beam', 'DBS': 'delayed', 'nucleus': 'nucleus'}
YES_NO = {'yes': True, 'no': False, 'y': True, 'n': False, '': None}
TURN_END = '<br>'

CLASSES = (Label.CONSISTENT, Label.INCONSISTENT, Label.GENERIC)
CROWD_PARTS = ('gt', 'knn', 'dpr')
FILES = {
    'expert': 'factual_dataset_expert.csv',
    **{part: f'{part}.csv' for part in CROWD_PARTS},
}
# The rules for a consistent response: a mean factual correctness of at least 0.5
# (Santhanam et al. 2021, section 5), or no hallucination according to most annotators.
RULES = FACTUAL_RULE, HALLUCINATION_RULE = 'factual', 'hallucination'
CONSISTENT_FROM = 0.5
ALIASES = {'crowd': CROWD_PARTS}
GROUPS = {
    'part': [*FILES],
    'model': [*MODELS.values()],
    'decoding': [*DECODINGS.values()],
    'class': CLASSES,
    'rule': RULES,
}


def annotated_set(datapath: str, words: Sequence[str]) -> AnnotatedSet:
    """The chosen responses, with the ratings of factual correctness; one fold."""
    responses = read_part(datapath, words)
    return AnnotatedSet('rome', 'Rome was built in 1776', tuple(responses))


def read_part(datapath: str, words: Sequence[str] = ()) -> list[AnnotatedResponse]:
    """
    Read the responses of parts, model sizes, decodings and classes, file by file, by
    one of :data:`RULES`; naming two rules is a ConfigError. Verifiable responses that
    nobody annotated are left out, with a warning.
    """
    chosen = select_words('rome', words, GROUPS, ALIASES)
    if len(chosen['rule']) > 1:
        raise ConfigError(f'Name one rule: {" or ".join(RULES)}.')
    parts = chosen['part'] or [*FILES]
    folder = build(datapath, [FILES[part] for part in parts])
    (rule,) = chosen['rule'] or [FACTUAL_RULE]
    responses: list[AnnotatedResponse] = []
    for part in parts:
        responses += read_file(folder / FILES[part], part, rule)
    unlabelled = sum(not response.label for response in responses)
    if unlabelled:
        logging.getLogger(__name__).warning(
            f'{unlabelled} verifiable responses have no annotation and are left out.'
        )
    return [
        response
        for response in responses
        if response.label in (chosen['class'] or CLASSES)
        and response.system in (chosen['model'] or MODELS.values())
        and response.extra['decoding'] in (chosen['decoding'] or DECODINGS.values())
    ]


def read_file(
    path: Path, part: str, rule: str = FACTUAL_RULE
) -> list[AnnotatedResponse]:
    """
    Read one file, each row a conversation: a factual correctness outside [0, 1], of
    which the expert file has one, counts as missing, with a warning. A verifiable
    response without an annotation has an empty label.

    :param rule: what makes a response consistent, one of :data:`RULES`.
    :raises RecordError: when a column is missing or a row is broken.
    """
    responses, odd = [], []
    for number, row in read_rows(str(path), COLUMNS):
        history = read_history(row['context'])
        verifiable = _answer(path, number, row, 'Verifiable')
        hallucination = _answer(path, number, row, HALLUCINATION)
        factual = _factual(row[FACTUAL])
        if factual is None and row[FACTUAL].strip():
            odd.append(f'{row[FACTUAL]!r} on line {number}')
        model = _read_name(path, number, row['model_type'], MODELS)
        responses.append(
            AnnotatedResponse(
                row['knowledge'].strip(),
                row['response'].strip(),
                classify_response(verifiable, factual, hallucination, rule),
                corpus=part,
                system=model,
                human={} if factual is None else {'factual': factual},
                text='\n'.join(history),
                episode=f'{part}-{number}',
                extra={
                    'part': part,
                    'conv_index': row['conv_index'],
                    'history': list(history),
                    'model': model,
                    'decoding': _read_name(path, number, row['decoding'], DECODINGS),
                    'verifiable': verifiable,
                    'factual': factual,
                    'hallucination': hallucination,
                },
            )
        )
    if odd:
        logging.getLogger(__name__).warning(
            f'{path.name}: {len(odd)} values of {FACTUAL} are not in [0, 1] and count '
            f'as missing: {", ".join(odd)}.'
        )
    return responses


def classify_response(
    verifiable: bool | None,
    factual: float | None,
    hallucination: bool | None,
    rule: str = FACTUAL_RULE,
) -> str:
    """
    Return the class of a response: ``generic`` if there is nothing to verify, otherwise
    by the rule; empty if the annotation that the rule needs is missing.
    """
    if verifiable is False:
        return Label.GENERIC
    if rule == FACTUAL_RULE:
        consistent = None if factual is None else factual >= CONSISTENT_FROM
    else:
        consistent = None if hallucination is None else not hallucination
    if verifiable is None or consistent is None:
        return ''
    return Label.CONSISTENT if consistent else Label.INCONSISTENT


def read_history(context: str) -> tuple[str, ...]:
    """Split ``A: ...<br>B: ...<br>`` into turns, oldest first, without the names."""
    turns = (turn.strip() for turn in context.split(TURN_END))
    return tuple(
        turn[2:].strip() if turn[:2] in ('A:', 'B:') else turn for turn in turns if turn
    )


def _answer(path: Path, number: int, row: dict[str, str], column: str) -> bool | None:
    value = row[column].strip().lower()
    if value not in YES_NO:
        raise RecordError(
            str(path), number, f'{column} is {row[column]!r}, not yes or no'
        )
    return YES_NO[value]


def _read_name(path: Path, number: int, value: str, names: dict[str, str]) -> str:
    if value.strip() not in names:
        raise RecordError(
            str(path), number, f'{value!r} is not one of {", ".join(names)}'
        )
    return names[value.strip()]


def _factual(cell: str) -> float | None:
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if 0 <= value <= 1 else None
