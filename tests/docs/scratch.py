"""What documented commands find where they are run: the files that they name, small."""

import shutil
from pathlib import Path
from typing import Any

from tests.agents.hf_models import causal_checkpoint, checkpoint
from tests.agents.rerank_toys import trained_generator
from tests.docs.code_in_docs import ROOT
from tests.files import write_lines
from tests.report.samples import scored, simple
from tests.tasks import annotated_sets
from tests.tasks.wow_files import write_wow
from tests.tiny import tiny_bert

BEES = 'Honeybees do a waggle dance to tell their nestmates where food is.'
PAIRS = [
    {'id': 'a', 'knowledge': BEES, 'response': 'They do a waggle dance.'},
    {'id': 'b', 'knowledge': BEES, 'response': 'They leave a trail of wax.'},
    {'id': 'c', 'knowledge': BEES, 'response': "That's cool!"},
]
POOLS = [
    {
        'knowledge': BEES,
        'history': ['How do bees talk?'],
        'candidates': [pair['response'] for pair in PAIRS],
    }
]
FEVER = [
    {'claim': pair['response'], 'evidence': BEES, 'label': label}
    for pair, label in zip(PAIRS, ('SUPPORTS', 'REFUTES', 'NOT ENOUGH INFO'))
]
STORED = {
    'dialog': [
        [
            {
                'id': 'person',
                'text': 'How do bees talk?',
                'knowledge': BEES,
                'checked_sentence': BEES,
                'labels': [PAIRS[0]['response']],
            },
            {'id': 'model', 'text': PAIRS[0]['response']},
        ]
    ]
}


def labelled() -> list[dict[str, Any]]:
    """Pairs of several passages with a person's labels."""
    return [
        {'knowledge': f'{BEES} {n}', 'response': response, 'label': label}
        for n in range(6)
        for response, label in (
            ('They do a waggle dance.', 'consistent'),
            ('They leave a trail of wax.', 'inconsistent'),
        )
    ]


def prepare(folder: Path, generator: bool = True) -> Path:
    """Write the files that commands name; ``model`` is trained once a run."""
    folder.mkdir(parents=True)
    write_lines(folder / 'pairs.jsonl', *PAIRS)
    write_lines(folder / 'labelled.jsonl', *labelled())
    write_lines(folder / 'pools.jsonl', *POOLS)
    write_lines(folder / 'kept.jsonl', STORED)
    records = [scored(), simple(1), simple(2)]
    for name in ('scores', 'before'):
        write_lines(folder / f'{name}.jsonl', *records)
    right = scored(score=1.0, label='consistent')
    write_lines(folder / 'after.jsonl', right, *records[1:])
    (folder / 'knowledge.txt').write_text(BEES)
    shutil.copytree(ROOT / 'docs' / 'examples', folder / 'docs' / 'examples')
    (folder / 'docs' / 'bees.md').write_text(f'# Bees\n\n{BEES}\n')
    turn = {'history': ['How do bees talk?'], 'knowledge': BEES}
    write_lines(folder / 'turns.jsonl', turn)
    if generator:
        trained = Path(trained_generator())
        for file in trained.parent.iterdir():
            shutil.copy(file, folder / file.name.replace(trained.name, 'model'))
    tiny_bert(folder / 'models' / 'my-encoder', num_hidden_layers=9)
    shutil.copytree(checkpoint('t5', 0), folder / 'path' / 'to' / 'folder')
    causal_checkpoint(folder / 'path' / 'to' / 'causal')
    annotated_sets.place(folder / 'data')
    (folder / 'fever').mkdir()
    for fold in ('train', 'valid', 'test'):
        write_lines(folder / 'fever' / f'{fold}.jsonl', *FEVER)
    return folder


def place_data(datapath: Path) -> None:
    """Place the files of all tasks, of our own writing, in ParlAI's data folder."""
    write_wow(datapath)
    annotated_sets.place(datapath)
