"""
Conversations of our own writing in the format of Wizard of Wikipedia's files: who
opens, what was shown and checked, and all the ways of checking nothing.
"""

import json
from pathlib import Path

# Ways in which the published files say that the wizard used no sentence.
NOTHING: dict = {}
NO_PASSAGE = {'no_passages_used': 'no_passages_used'}

# topic, sentences of its article, and what was said in turns. A wizard's turn has the
# number of the sentence that he checked, or what stands in the file in its place.
CONVERSATIONS = [
    (
        'Marie Curie',
        [
            'Marie Curie was a physicist who was born in Warsaw in 1867.',
            'She was the first woman to win a Nobel Prize, in 1903.',
            'With her husband Pierre Curie she discovered polonium in Paris.',
        ],
        [
            ('Do you know Marie Curie?', None),
            ('Yes! She was born in Warsaw in 1867.', 0),
            ('Did she work in Paris?', None),
            ('She did, she discovered polonium there with Pierre Curie.', 2),
            ('That is impressive.', None),
            ('I think so too!', NOTHING),
        ],
    ),
    (
        'Iceland',
        [
            'Iceland is an island country in the North Atlantic Ocean.',
            'Its capital is Reykjavik, where most of its people live.',
            'The island was settled by people from Norway in 874.',
        ],
        [
            ('Iceland is my favourite country, have you ever been there?', NO_PASSAGE),
            ('No, what is it like?', None),
            ('Most people live in Reykjavik, the capital.', 1),
            ('Who came there first?', None),
            ('It was settled from Norway in 874.', 2),
        ],
    ),
    (
        'The Beatles',
        [
            'The Beatles were a rock band that was formed in Liverpool in 1960.',
            'John Lennon, Paul McCartney, George Harrison and Ringo Starr were in it.',
            'They can be said to have changed popular music for ever.',
        ],
        [
            ('I love the Beatles.', None),
            ('They were formed in Liverpool in 1960.', 0),
            ('Who was your favourite?', None),
            ('I like Ringo Starr, but John Lennon wrote more songs.', 1),
        ],
    ),
    (
        'Honey bee',
        [
            "A honey bee can't sting twice, since its sting stays behind.",
            'Honey bees have five eyes and do not sleep like we do.',
            'A queen may live for five years.',
        ],
        [
            ('Bees frighten me.', None),
            ('They can not sting you twice, they die of it.', 0),
            ('Really? How many eyes do they have?', None),
            ('They have five eyes.', 1),
            ('And how old do they get?', None),
            ('A queen may live for five years!', 2),
        ],
    ),
    (
        'Chess',
        [
            'Chess is played by two people on a board of 64 squares.',
            'Garry Kasparov became champion in 1985, by beating Anatoly Karpov.',
            'In 1997 Kasparov lost a match to Deep Blue, a computer of IBM.',
        ],
        [
            ('Are you good at chess?', {'self_Chess_0': 'no_passages_used'}),
            ('No, but I would like to be.', None),
            ('Garry Kasparov was only 22 when he became champion in 1985.', 1),
            ('Did he ever lose to a computer?', None),
            ('Yes, in 1997 he lost to Deep Blue, which IBM had built.', 2),
            ('Wow, I did not know that.', None),
        ],
    ),
    (
        'Pizza',
        [
            'Pizza comes from Naples, a city in Italy.',
            'The pizza Margherita is named after a queen of Italy.',
            'In 2017 the art of making it was honoured by UNESCO.',
        ],
        [
            ('What is your favourite food?', None),
            ('Pizza! It was invented in Naples, in Italy.', 0),
            ('I thought it was from Rome.', None),
            ('no, the margherita is named after a queen of italy', 1),
        ],
    ),
]


def conversation(topic: str, passage: list, utterances: list) -> dict:
    """A conversation as the published files have it."""
    opened = utterances[0][1] is not None
    dialog = [
        entry(topic, passage, text, checked, wizard=(i % 2 == 0) == opened)
        for i, (text, checked) in enumerate(utterances)
    ]
    return {
        'chosen_topic': topic,
        'persona': f'i like {topic.lower()}.',
        'wizard_eval': 5,
        'dialog': dialog,
        'chosen_topic_passage': passage,
    }


def entry(topic: str, passage: list, text: str, checked, wizard: bool) -> dict:
    fields = {
        'speaker': '0_Wizard' if wizard else '1_Apprentice',
        'text': text,
        'retrieved_passages': [{topic: passage}, {'Elsewhere': ['It is far away.']}],
        'retrieved_topics': [topic, 'Elsewhere'],
    }
    if not wizard:
        return fields
    key, title = f'self_{topic.replace(" ", "_")}_0', topic
    sentence = passage[checked] if isinstance(checked, int) else None
    return {
        **fields,
        'candidate_responses': [text, 'I do not know.'],
        'checked_sentence': {key: sentence} if sentence else checked,
        'checked_passage': {'chosen_topic_0': title} if sentence else NO_PASSAGE,
    }


def write_wow(datapath: Path, train: list = CONVERSATIONS) -> Path:
    """Write the files as ParlAI unpacks them, smaller ones for the folds but train."""
    folder = datapath / 'wizard_of_wikipedia'
    folder.mkdir(parents=True, exist_ok=True)
    (folder / '.built').write_text('by hand\n1.0')
    parts = {
        'train': train,
        'valid_random_split': train[:3],
        'valid_topic_split': train[3:6],
        'test_random_split': train[1:4],
        'test_topic_split': train[4:],
    }
    for name, part in parts.items():
        dialogues = [conversation(*c) for c in part]
        (folder / f'{name}.json').write_text(json.dumps(dialogues))
    (folder / 'data.json').write_text((folder / 'train.json').read_text())
    return folder
