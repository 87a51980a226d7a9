"""
Reads the csv files that the Q2 paper published, from its repository.

Four files each hold one system's responses of one class. ``cross_annotation.csv`` holds
both systems' responses to the same contexts; there, a label of 1 means inconsistent.
"""

from collections.abc import Sequence
from functools import partial
from itertools import product
from pathlib import Path

from parlai_q2.claims import Label
from parlai_q2.errors import RecordError
from parlai_q2.evaluate.sets import AnnotatedResponse, AnnotatedSet, select_words
from parlai_q2.io.data_sets import fetch_files, list_files, read_rows

SOURCE = 'https://raw.githubusercontent.com/orhonovich/q-squared/main/third_party/data/'

CHECKSUMS = """
dodeca_consistent.csv f3960661a527f8d481d8bd324bb4b4ed84797eb90e3f91d8d2c0038e5861c4a8
dodeca_inconsistent.csv e8c97dcf7db823f69455042b1e27342f0d6db308ced1d491ad11bb5fc4d980c3
memnet_consistent.csv 2e9b32dbc35d9708eade57205b4a39f0ed3ded3015229e45c1937239b41e1bc2
memnet_inconsistent.csv 6d80a4a2d513799a580accf463ad89b2968ade3e0b35dc55b1d174511a5a0277
cross_annotation.csv b9c92dcf44b93fc8c19fa4a289c6a2780d703b090cf1d341175728778c330446
"""
PUBLISHED = list_files(SOURCE, CHECKSUMS)

# Fetches the needed files into the task's folder.
build = partial(fetch_files, task='q2_wow', files=PUBLISHED)

SYSTEMS = ('dodeca', 'memnet')
CONTEXT = ('episode_idx', 'round', 'topic', 'message', 'knowledge', 'gold')
CROSS_LABELS = {'0': Label.CONSISTENT, '1': Label.INCONSISTENT}
CLASSES = (Label.CONSISTENT, Label.INCONSISTENT)
CROSS = 'cross_annotation'
CROSS_FILE = 'cross_annotation.csv'
GROUPS = {'system': SYSTEMS, 'class': CLASSES, 'part': [CROSS]}


def annotated_set(datapath: str, words: Sequence[str]) -> AnnotatedSet:
    """
    Return the 600 responses of the paper, or those that words choose; without words,
    also the 544 contexts that both systems answered. There is only one fold.
    """
    crossed: dict[tuple[str, str], list[AnnotatedResponse]] = {}
    for response in [] if words else read_part(datapath, [CROSS]):
        crossed.setdefault((response.dialogue, response.turn), []).append(response)
    return AnnotatedSet(
        'q2_wow',
        'annotated Wizard of Wikipedia responses',
        tuple(read_part(datapath, words)),
        tuple(tuple(responses) for responses in crossed.values()),
    )


def read_part(datapath: str, words: Sequence[str] = ()) -> list[AnnotatedResponse]:
    """Read the 600 responses or a part, Dodeca's before MemNet's, consistent first."""
    chosen = select_words('q2_wow', words, GROUPS)
    systems, labels = chosen['system'] or SYSTEMS, chosen['class'] or CLASSES
    if chosen['part']:
        folder = build(datapath, [CROSS_FILE])
        responses = read_cross_file(folder / CROSS_FILE)
        return [t for t in responses if t.system in systems and t.label in labels]
    files = {f'{s}_{c}.csv': (s, c) for s, c in product(systems, labels)}
    folder = build(datapath, list(files))
    responses = []
    for name, (system, label) in files.items():
        for _, row in read_rows(str(folder / name), (*CONTEXT, 'response')):
            responses.append(_annotated(row, row['response'], system, label))
    return responses


def read_cross_file(path: Path) -> list[AnnotatedResponse]:
    """
    Read the contexts for which both systems' responses were annotated: two responses
    for each row, Dodeca's first.

    :raises RecordError: for a broken row.
    """
    columns = [f'{s}_{c}' for s, c in product(SYSTEMS, ('response', 'label'))]
    responses = []
    for number, row in read_rows(str(path), (*CONTEXT, *columns)):
        for system in SYSTEMS:
            label = CROSS_LABELS.get(row[f'{system}_label'].strip())
            if label is None:
                raise RecordError(
                    str(path),
                    number,
                    f'{system}_label is {row[f"{system}_label"]!r}; it must be 0 '
                    '(consistent) or 1 (inconsistent)',
                )
            responses.append(_annotated(row, row[f'{system}_response'], system, label))
    return responses


def _annotated(
    row: dict[str, str], response: str, system: str, label: str
) -> AnnotatedResponse:
    context = f'{row["episode_idx"]}-{row["round"]}'
    return AnnotatedResponse(
        text=row['message'].strip(),
        topic=row['topic'],
        knowledge=row['knowledge'],
        gold=row['gold'].strip(),
        response=response,
        label=label,
        corpus='wow',
        system=system,
        dialogue=row['episode_idx'],
        turn=row['round'],
        # Rows are single turns from conversations that are not in the files.
        episode=f'{context}-{system}',
        extra={
            'system': system,
            'episode_idx': row['episode_idx'],
            'round': row['round'],
        },
    )
