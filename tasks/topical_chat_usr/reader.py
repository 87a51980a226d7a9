"""
Reads the ratings of USR: a JSON list of objects with ``context`` (a turn on each line),
``fact`` and ``responses``. Each response has its text (``response``), its ``model``,
and a list of three annotators' ratings for each quality. "Uses Knowledge" is 0 or 1;
the other qualities have scales of their own.

The file is on the first author's site. No checksum is published: its SHA-256 is logged,
and its responses are counted.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path

from parlai_q2.evaluate.sets import AnnotatedResponse, AnnotatedSet, select_words
from parlai_q2.io.data_sets import PublishedFile, fetch_files, read_list, warn_of_count
from parlai_q2.json_values import JsonObject, is_number

NAME = 'tc_usr_data.json'
PUBLISHED = [PublishedFile('http://shikib.com/tc_usr_data.json')]
# Fetches the file into the task's folder.
build = partial(fetch_files, task='topical_chat_usr', files=PUBLISHED)

USES_KNOWLEDGE = 'uses_knowledge'
# The qualities by their names here, with those in the file.
QUALITIES = {
    'understandable': 'Understandable',
    'natural': 'Natural',
    'maintains_context': 'Maintains Context',
    'engaging': 'Engaging',
    USES_KNOWLEDGE: 'Uses Knowledge',
    'overall': 'Overall',
}
# The systems by their names here, with those in the file.
SYSTEMS = {
    'original': 'Original Ground Truth',
    'argmax': 'Argmax Decoding',
    'nucleus_0.3': 'Nucleus Decoding (p = 0.3)',
    'nucleus_0.5': 'Nucleus Decoding (p = 0.5)',
    'nucleus_0.7': 'Nucleus Decoding (p = 0.7)',
    'new_human': 'New Human Generated',
}
CLASSES = USES, USES_NONE = 'uses_knowledge', 'uses_none'
GROUPS = {'system': [*SYSTEMS]}
# Topical-Chat's mark for a turn without knowledge, in the data that USR was made from.
NO_FACT = '_nofact'
# 60 contexts with 6 responses each.
PUBLISHED_RESPONSES = 360


def annotated_set(datapath: str, words: Sequence[str]) -> AnnotatedSet:
    """
    Return the chosen responses to the 52 contexts with knowledge; they have ratings,
    but none of our classes. Without words, the original human responses are left out,
    so 260 remain, as in Honovich et al. 2021, Table 5. There is one fold.
    """
    systems = words or [name for name in SYSTEMS if name != 'original']
    responses = [
        replace(r, label='') for r in read_part(datapath, systems) if r.knowledge
    ]
    return AnnotatedSet('topical_chat_usr', 'Topical-Chat of USR', tuple(responses))


def read_part(datapath: str, words: Sequence[str] = ()) -> list[AnnotatedResponse]:
    """Read the responses of systems, context by context."""
    chosen = select_words('topical_chat_usr', words, GROUPS)
    responses = read_file(build(datapath, [NAME]) / NAME)
    warn_of_count(NAME, 'responses', len(responses), PUBLISHED_RESPONSES)
    return [t for t in responses if t.system in (chosen['system'] or SYSTEMS)]


def read_file(path: Path) -> list[AnnotatedResponse]:
    """
    Read the responses of the file, each a conversation, context by context. The label
    is the majority's judgement of a response's use of the knowledge.

    :raises RecordError: with the context's number, if the format is wrong.
    """
    contexts = read_list(path, 'context', 'USR', _turns)
    return [*chain.from_iterable(contexts)]


def _turns(context: JsonObject, number: int) -> list[AnnotatedResponse]:
    history = [turn.strip() for turn in context['context'].split('\n') if turn.strip()]
    fact = context['fact'].strip()
    fact = '' if fact == NO_FACT else fact
    responses = context['responses']
    original = (r['response'] for r in responses if r['model'] == SYSTEMS['original'])
    gold = next(original, '').strip()
    annotated = []
    for place, response in enumerate(responses):
        ratings = {quality: _ratings(response, quality) for quality in QUALITIES}
        means = {name: sum(values) / len(values) for name, values in ratings.items()}
        uses = means[USES_KNOWLEDGE]
        annotated.append(
            AnnotatedResponse(
                text='\n'.join(history),
                knowledge=fact,
                gold=gold,
                response=response['response'].strip(),
                label=USES if uses > 0.5 else USES_NONE,
                system=_system(response['model']),
                human=means,
                episode=f'{number}-{place}',
                extra={
                    'context_id': number,
                    'history': history,
                    'system': _system(response['model']),
                    'human_score': uses,
                    'human_ratings': means,
                    'annotations': ratings,
                },
            )
        )
    return annotated


def _system(model: str) -> str:
    names = {label: here for here, label in SYSTEMS.items()}
    if model.strip() not in names:
        raise ValueError(f'model {model!r} is not one of {", ".join(names)}')
    return names[model.strip()]


def _ratings(response: JsonObject, quality: str) -> list[float]:
    """Return the annotators' ratings of one quality, at least one."""
    ratings: list[float] = response[QUALITIES[quality]]
    if not ratings or not all(map(is_number, ratings)):
        raise ValueError(f'{QUALITIES[quality]} is {ratings!r}, not a list of ratings')
    if quality == USES_KNOWLEDGE and not set(ratings) <= {0, 1}:
        raise ValueError(f'{QUALITIES[quality]} is {ratings!r}; ratings are 0 or 1')
    return ratings
