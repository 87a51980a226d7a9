"""Small files of our own writing in the formats of the published sets."""

import csv
import hashlib
import io
import json
from pathlib import Path

from parlai_q2.io.data_sets import PublishedFile
from parlai_q2.tasks.begin import reader as begin
from parlai_q2.tasks.begin.reader import COLUMNS
from parlai_q2.tasks.q2_wow import reader as q2_wow
from parlai_q2.tasks.rome import reader as rome
from parlai_q2.tasks.rome.reader import COLUMNS as ROME_COLUMNS
from parlai_q2.tasks.topical_chat_usr.reader import QUALITIES, SYSTEMS

# Quoted commas, doubled quotes, a line break inside quotes, no message, no gold reply;
# CRLF in cross_annotation.csv.
FILES = Path(__file__).parent / 'q2_wow_files'
Q2_WOW = {path.name: path.read_bytes() for path in sorted(FILES.glob('*.csv'))}

FULLY, NOT_FULLY = 'Fully attributable', 'Not fully attributable'
KITES, OWLS = 'Kites need wind.', 'Most owls hunt at night.'
DOME = 'title : The Dome year : 1999 genre : drama'


def tsv(columns, rows, end='\n'):
    """Never quoted; the published dev files end their lines by CRLF."""
    return ''.join('\t'.join(r) + end for r in (columns, *rows)).encode()


def begin_rows(source, *rows):
    return [(model, source, *rest) for model, *rest in rows]


BEGIN = {
    'begin_dev_wow.tsv': tsv(
        COLUMNS,
        begin_rows(
            'wow',
            ('t5', KITES, 'do they need wind?', 'yes, kites need wind.', FULLY),
            ('gpt2', KITES, 'do they need wind?', 'No , they need "snow .', NOT_FULLY),
            ('ctrl', OWLS, 'when do they hunt?', 'owls hunt at night.', FULLY),
            ('doha', OWLS, 'I saw one!', 'Cool . I am scared of them .', NOT_FULLY),
        ),
        end='\r\n',
    ),
    'begin_dev_cmu.tsv': tsv(
        COLUMNS,
        begin_rows(
            'cmu',
            ('doha', DOME, '', 'it is a drama of 1999 .', FULLY),
            ('t5', DOME, 'Seen it?', 'haha', 'Generic'),
        ),
        end='\r\n',
    ),
    'begin_dev_tc.tsv': tsv(
        COLUMNS,
        begin_rows(
            'tc', ('ctrl', OWLS, ' do you like owls?', 'I like hens.', NOT_FULLY)
        ),
        end='\r\n',
    ),
    'begin_test_wow.tsv': tsv(
        COLUMNS,
        begin_rows('wow', ('t5', KITES, 'so?', 'kites need wind – always', FULLY)),
    ),
    'begin_test_cmu.tsv': tsv(
        COLUMNS, begin_rows('cmu', ('gpt2', DOME, 'so?', 'Yes .', 'Generic'))
    ),
    'begin_test_tc.tsv': tsv(
        COLUMNS, begin_rows('tc', ('doha', OWLS, 'so?', 'They sleep .', NOT_FULLY))
    ),
}

TALK = 'A: I like the sea. <br>B: Me too! <br>A: Is it "salty"? <br>'
SALT = 'Sea The sea is salty, and so is its air.'
TREES = 'A: Trees are tall.<br>B: How tall are they?<br>'
TALL = 'Tree Some trees are 100 metres tall.'


def rome_csv(rows, dial_index=False):
    columns = [*ROME_COLUMNS]
    if dial_index:
        columns.insert(1, 'dial_index')
        rows = [(row[0], '1', *row[1:]) for row in rows]
    text = io.StringIO(newline='')
    writer = csv.writer(text, lineterminator='\n')
    writer.writerows([columns, *rows])
    return text.getvalue().encode()


def crowd_rows(salty, tall):
    return [
        ('7', 'GPT2-small', 'nucleus', TALK, salty, 'Yes, very.', '', '', 'n'),
        ('7', 'GPT2-small', 'DBS', TALK, salty, 'Yes, it is salty', '1.0', 'No', 'y'),
        ('7', 'GPT2-xlarge', 'beam search', TALK, salty)
        + ('It has no salt.', '0.166666667', 'Yes', 'y'),
        ('9', 'GPT2-large', 'nucleus', TREES, tall)
        + ('Some are 100 metres', '0.833333333', 'No', 'y'),
        ('9', 'GPT2-medium', 'beam search', TREES, tall)
        + ('About a mile.', '0.0', 'Yes', 'y'),
    ]


ROME = {
    'factual_dataset_expert.csv': rome_csv(
        [
            ('0', 'GPT2-small', 'nucleus', TALK, SALT)
            + ('It is salty.', '1.0', 'No', 'y'),
            ('1', 'GPT2-small', 'nucleus', TREES, TALL, 'A mile', '0.17', 'Yes', 'y'),
            ('2', 'GPT2-small', 'nucleus', TREES, TALL, 'Nice!', '0.5', 'No', 'n'),
        ]
    ),
    'gt.csv': rome_csv(crowd_rows(SALT, TALL)),
    'knn.csv': rome_csv(crowd_rows('Salt is cheap.', ' '), dial_index=True),
    # The same passage, cut at different lengths.
    'dpr.csv': rome_csv(
        [
            ('7', 'GPT2-small', 'DBS', TALK, SALT, 'Its air is.', '0.5', 'No', 'y'),
            ('7', 'GPT2-large', 'DBS', TALK, SALT[:25], 'It is.', '', '', 'n'),
        ]
    ),
}


def dnli_pair(name, number, label, first, second, dtype):
    return {
        'label': label,
        'sentence1': first,
        'sentence2': second,
        'triple1': ['i', 'have', 'x'],
        'triple2': ['i', 'have', 'y'],
        'dtype': dtype,
        'id': f'dialogue_nli_{name}_{number}',
    }


DOG, CAT = 'i have a dog .', 'i have a cat .'


def dnli_pairs(name):
    return [
        dnli_pair(name, 0, 'negative', 'we had a cat only .', DOG, 'e2swap_up'),
        dnli_pair(name, 1, 'positive', 'my dog is brown .', DOG, 'matchingtriple_up'),
        dnli_pair(name, 2, 'neutral', 'steak is great !', DOG, 'miscutterance_up'),
        dnli_pair(name, 3, 'negative', CAT, 'i have no pets .', 'e2swap_pp'),
        dnli_pair(
            name, 4, 'positive', 'rex barks a lot .', 'rex !', 'matchingtriple_uu'
        ),
    ]


DNLI = {
    f'dialogue_nli_{name}.jsonl': json.dumps(dnli_pairs(name)[:pairs]).encode()
    for name, pairs in (('train', 5), ('dev', 4), ('test', 5), ('verified_test', 3))
}


def usr_response(system, text, uses, overall):
    ratings = {theirs: [1, 2, 3] for theirs in QUALITIES.values()}
    ratings |= {'Uses Knowledge': uses, 'Overall': overall}
    return {'response': text + '\n', 'model': SYSTEMS[system], **ratings}


USR = [
    {
        'context': 'hi , do you like owls ? \n yes , i do \n\n',
        'fact': OWLS + '\n',
        'annotators': ['ab', 'cd', 'ef'],
        'responses': [
            usr_response('original', 'they hunt at night .', [1, 1, 1], [5, 5, 4]),
            usr_response('argmax', 'i like them too .', [0, 0, 0], [2, 3, 2]),
            usr_response('nucleus_0.3', 'owls hunt hens .', [0, 1, 1], [4, 3, 4]),
        ],
    },
    {
        'context': 'nice kite ! \n\n',
        'fact': '_nofact\n',
        'annotators': ['ab', 'cd', 'ef'],
        'responses': [
            usr_response('original', 'thanks !', [0, 0, 1], [3, 3, 3]),
            usr_response('new_human', 'it needs wind .', [0, 0, 0], [4, 4, 4]),
        ],
    },
]


SETS = {
    'q2_wow': Q2_WOW,
    'begin': BEGIN,
    'rome': ROME,
    'dialogue_nli': DNLI,
    'topical_chat_usr': {'tc_usr_data.json': json.dumps(USR).encode()},
}


def place(datapath: Path) -> None:
    """Place all of them by hand."""
    for task, files in SETS.items():
        (datapath / task).mkdir(parents=True)
        for name, data in files.items():
            (datapath / task / name).write_bytes(data)


def expect(monkeypatch) -> None:
    """Let the tasks expect these files, known in the way their own are."""
    for reader, files in ((q2_wow, Q2_WOW), (begin, BEGIN), (rome, ROME)):
        expected = []
        for published in reader.PUBLISHED:
            data = files[published.name]
            checksum = hashlib.sha256(data).hexdigest() if published.sha256 else ''
            url = f'https://example.invalid/{published.name}'
            expected.append(PublishedFile(url, checksum))
        monkeypatch.setitem(reader.build.keywords, 'files', expected)
