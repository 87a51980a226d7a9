"""Small files in the formats of the published data, written for these tests."""

import hashlib
import json
from pathlib import Path

# Files of our own writing in the published format: quoted commas, doubled quotes, a
# line break inside quotes, no message, no gold reply; CRLF in cross_annotation.csv.
FILES = Path(__file__).parent / 'q2_wow_files'
Q2_WOW = {path.name: path.read_bytes() for path in sorted(FILES.glob('*.csv'))}


def write_q2_wow(folder: Path) -> dict:
    """
    Write the five files.

    :return: their checksums by name.
    """
    folder.mkdir(parents=True, exist_ok=True)
    checksums = {}
    for name, data in Q2_WOW.items():
        (folder / name).write_bytes(data)
        checksums[name] = hashlib.sha256(data).hexdigest()
    return checksums


def write_wizard_of_wikipedia(datapath: Path) -> None:
    """Write what ParlAI's own task takes for a finished download."""
    folder = datapath / 'wizard_of_wikipedia'
    folder.mkdir(parents=True)
    (folder / '.built').write_text('by hand\n1.0')
    for name in (
        'train',
        'valid_random_split',
        'valid_topic_split',
        'test_random_split',
    ):
        dialogues = [_wow_dialogue(name, i) for i in range(3)]
        (folder / f'{name}.json').write_text(json.dumps(dialogues))
    (folder / 'data.json').write_text((folder / 'train.json').read_text())


def _wow_dialogue(split: str, number: int) -> dict:
    topic = f'Lake {number}'
    passages = [f'{topic} of {split} is deep.', f'{topic} is {number + 2} miles long.']
    retrieved = [{topic: passages}]
    dialog = []
    for turn, checked in enumerate([{'self_Lake_0': passages[1]}, {}]):
        dialog += [
            {
                'speaker': '0_Apprentice',
                'text': f'tell me more, {turn}',
                'retrieved_passages': retrieved,
                'retrieved_topics': [topic],
            },
            {
                'speaker': '1_Wizard',
                'text': f'it is {number + 2} miles long',
                'checked_sentence': checked,
                'checked_passage': {'passage': topic} if checked else {},
                'retrieved_passages': retrieved,
                'retrieved_topics': [topic],
                'candidate_responses': [f'it is {number + 2} miles long', 'no idea'],
            },
        ]
    return {
        'chosen_topic': topic,
        'chosen_topic_passage': passages,
        'wizard_eval': 5,
        'dialog': dialog,
    }
