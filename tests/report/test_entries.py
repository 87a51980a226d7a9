import math

import pytest

from parlai_q2.errors import InputError
from parlai_q2.report.entries import read_entry
from tests.report.samples import scored, simple


def test_a_record_is_cut_at_its_spans():
    entry = read_entry(scored())
    assert entry['response'] == [
        ['\U0001f600 '],
        ['Madonna', 'supported', [0]],
        [' was born in '],
        ['1985', 'contradicted', [1]],
        [' in '],
        ['Canada', 'unsupported', [2]],
        ['.'],
    ]
    assert [p for p in entry['knowledge'] if len(p) > 1] == [
        ['Madonna', 'supported', [0]],
        ['August 16, 1958', 'contradicted', [1]],
    ]
    assert entry['verdicts'][2] == {
        'question': 'Where was Madonna born?',
        'response': 'Canada',
        'knowledge': None,
        'comparison': 'no answer',
        'score': 0.0,
        'status': 'unsupported',
    }


def test_most_fields_may_be_missing():
    entry = read_entry({'response': '', 'score': 0, 'label': 'not_verifiable'}, place=7)
    assert entry['id'] == '7'
    assert entry['response'] == entry['knowledge'] == entry['history'] == []
    assert entry['verdicts'] == entry['rerank'] == []
    assert entry['class'] == entry['signature'] == ''


@pytest.mark.parametrize(
    'fields, problem',
    [
        ({'response': None}, "'response' must be a string and is a NoneType"),
        ({'knowledge': 3}, "'knowledge' must be a string or a list of passages"),
        ({'knowledge': [3]}, 'Passage 0 of the knowledge must be'),
        ({'statements': {}}, "'statements' must be a list"),
        ({'statements': [{}]}, 'statement 1 cannot be read: field .* is missing'),
        ({'label': None}, "'label' must be a string"),
        ({'score': None}, r"'score' must be in \[0, 1\] and is None"),
        ({'score': math.nan}, "'score' must be"),
        ({'score': 1.5}, "'score' must be"),
        ({'score': True}, "'score' must be"),
        ({'verdicts': 'none'}, "'verdicts' must be a list"),
        ({'verdicts': [{}]}, 'verdict 1 cannot be read: field .* is missing'),
        ({'parts': [1]}, "'parts' must be an object"),
        ({'rerank': {'a': 1}}, "'rerank' must be a list"),
        ({'rerank': [{'score': 1}]}, "candidate 1 cannot be read: 'text' must be"),
        (
            {'rerank': [{'text': 'a', 'score': 9}]},
            "candidate 1 cannot be read: 'score'",
        ),
    ],
)
def test_a_bad_record_is_told_what_is_wrong(fields, problem):
    with pytest.raises(InputError, match=problem):
        read_entry({**simple(1), **fields})


@pytest.mark.parametrize(
    'field, value',
    [
        ('response_span', [0, 1.5]),
        ('knowledge_span', None),
        ('question', 5),
        ('response_answer', None),
        ('score', math.nan),
    ],
)
def test_a_bad_verdict_is_named_by_its_place(field, value):
    record = scored()
    record['verdicts'][1] = {**record['verdicts'][1], field: value}
    with pytest.raises(InputError):
        read_entry(record)


TITLED = [
    {'title': 'Bee', 'text': 'Bees have eyes. They have five.'},
    {'title': 'Wasp', 'text': 'Wasps sting.'},
]
STATEMENTS = [
    {
        'text': 'They have five eyes.',
        'span': [0, 20],
        'score': 0.9,
        'label': 'consistent',
        'evidence': [
            {'passage': 0, 'sentence': 'They have five.', 'span': [16, 31]},
            {'passage': 1, 'sentence': 'Wasps sting.', 'span': [0, 12]},
        ],
    }
]


def test_statements_name_the_passages_they_rest_on():
    entry = read_entry(simple(1, knowledge=TITLED, statements=STATEMENTS))
    assert entry['statements'] == [
        {
            'text': 'They have five eyes.',
            'score': 0.9,
            'label': 'consistent',
            'evidence': [['Bee', 'They have five.'], ['Wasp', 'Wasps sting.']],
        }
    ]
    # Without questions, these sentences are what is marked in the knowledge.
    assert entry['knowledge'] == [
        ['Bee: ', 'title', []],
        ['Bees have eyes. '],
        ['They have five.', 'supported', []],
        ['\n'],
        ['Wasp: ', 'title', []],
        ['Wasps sting.', 'supported', []],
    ]


def test_an_answer_is_marked_in_its_passage():
    record = scored()
    verdict = {**record['verdicts'][0], 'passage': 1}
    knowledge = ['Madonna (first).', record['knowledge']]
    entry = read_entry({**record, 'knowledge': knowledge, 'verdicts': [verdict]})
    assert entry['knowledge'][0] == ['Madonna (first).']
    assert entry['knowledge'][2] == ['Madonna', 'supported', [0]]
