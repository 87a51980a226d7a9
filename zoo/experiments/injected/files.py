"""
Reads and writes the experiment's conversation files.

Each conversation is one turn, in the form that ``-t q2:grounded_file`` reads and
``parlai_q2 filter`` writes. Besides text, knowledge and reply, a turn has ``key`` and,
for the evaluation alone, ``injected``: the kind of injection, empty where the reply was
left alone.
"""

import json
from pathlib import Path
from typing import Any, Iterable, Iterator

from parlai_q2.io.write import write_text
from parlai_q2.zoo.experiments.injected.corpus import Turn
from parlai_q2.zoo.experiments.injected.inject import Training

Fields = dict[str, Any]


def fields_of(turn: Turn, reply: str, injected: str = '') -> Fields:
    """
    The fields of a turn as they are written.
    """
    return {
        'text': turn.text,
        'knowledge': turn.knowledge,
        'key': turn.key,
        'injected': injected,
        'reply': reply,
    }


def training_fields(turns: Iterable[Training]) -> list[Fields]:
    """
    The fields of turns to train on.
    """
    return [fields_of(one.turn, one.reply, one.kind) for one in turns]


def write_turns(path: Path, turns: Iterable[Fields]) -> None:
    """
    Write turns as conversations, completely or not at all.
    """
    lines = []
    for turn in turns:
        asked = {'id': 'person', **{k: v for k, v in turn.items() if k != 'reply'}}
        answered = {'id': 'label', 'text': turn['reply']}
        lines.append(json.dumps({'dialog': [[asked, answered]], 'context': []}))
    write_text(path, ''.join(line + '\n' for line in lines))


def read_turns(path: Path) -> Iterator[Fields]:
    """
    Read the turns of a file; turns that were filtered come with their scores.
    """
    with open(path, encoding='utf-8') as stream:
        for line in stream:
            for asked, answered in json.loads(line)['dialog']:
                kept = ('text', 'knowledge', 'key', 'injected')
                yield {**{k: asked[k] for k in kept}, 'reply': answered['text']}
