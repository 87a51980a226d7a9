import math
from dataclasses import replace

import pytest

from parlai_q2.claims import Claim, Evidence, Label, Score, Status
from parlai_q2.errors import InputError
from parlai_q2.report.entries import (
    Mark,
    TextPiece,
    chosen_knowledge,
    clip,
    cut,
    knowledge_pieces,
    list_sources,
    read_entry,
)
from parlai_q2.rerank import Candidate, Ranking
from parlai_q2.rerank.choice import Reason
from parlai_q2.turns import Passage, Span, passages_of
from tests.report.samples import scored, simple

CLAIM = scored()['claims'][0]


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
    assert entry['claims'][2] == {
        'text': 'Canada',
        'at': [30, 36],
        'support': 0.0,
        'status': 'unsupported',
        'question': 'Where was Madonna born?',
        'comparison': 'no answer',
        'mistake': '',
        'evidence': [],
    }


def test_most_fields_may_be_missing():
    entry = read_entry({'response': '', 'score': 0, 'label': 'not_verifiable'}, place=7)
    assert entry['id'] == '7'
    assert entry['response'] == entry['knowledge'] == entry['history'] == []
    assert entry['claims'] == entry['rerank'] == []
    assert entry['class'] == entry['signature'] == ''


@pytest.mark.parametrize(
    'fields, problem',
    [
        ({'knowledge': [3]}, 'Passage 0 of the knowledge must be'),
        ({'label': None}, "'label' must be a string"),
        ({'score': math.nan}, "'score' must be"),
        ({'score': 1.5}, "'score' must be"),
        ({'claims': [{}]}, "claim 1 cannot be read: 'span' must be"),
        ({'claims': [{**CLAIM, 'support': 1.5}]}, 'claim 1 cannot be read'),
        ({'parts': {'a': 'b'}}, "'parts' must have numbers"),
        ({'rerank': [{'chosen': True}]}, "candidate 1 cannot be read: 'text' must be"),
    ],
)
def test_a_bad_record_is_told_what_is_wrong(fields, problem):
    with pytest.raises(InputError, match=problem):
        read_entry({**simple(1), **fields})


TITLED = [
    {'title': 'Bee', 'text': 'Bees have eyes. They have five.'},
    {'title': 'Wasp', 'text': 'Wasps sting.'},
]
SENTENCE = Claim(
    Span('They have five eyes.', 0, 20),
    0.9,
    Status.SUPPORTED,
    (
        Evidence(0, Span('They have five.', 16, 31)),
        Evidence(1, Span('Wasps sting.', 0, 12)),
    ),
)


def test_claims_name_the_passages_they_rest_on():
    response = 'They have five eyes.'
    claims = [SENTENCE.to_dict()]
    entry = read_entry(simple(1, knowledge=TITLED, response=response, claims=claims))
    (claim,) = entry['claims']
    assert claim['evidence'] == [['Bee', 'They have five.'], ['Wasp', 'Wasps sting.']]
    assert entry['response'] == [[response, 'supported', [0]]]
    # Without questions, these sentences are what is marked in the knowledge.
    assert entry['knowledge'] == [
        ['Bee: ', 'title', []],
        ['Bees have eyes. '],
        ['They have five.', 'supported', [0]],
        ['\n'],
        ['Wasp: ', 'title', []],
        ['Wasps sting.', 'supported', [0]],
    ]


def found_in(*files: str) -> list[dict]:
    sources = [{'file': file, 'heading': 'A > B'} for file in files]
    return [{'text': 'Bees sing.', 'title': 'All', 'source': s} for s in sources]


def test_a_reply_says_which_documents_bear_it_out():
    span = Span('Bees', 0, 4)
    claim = Claim(span, 1.0, Status.SUPPORTED, (Evidence(1, Span('Bees', 0, 4)),))
    score = Score(1.0, Label.CONSISTENT, (claim,))
    candidate = Candidate('Bees sing.', score=score)
    passages = passages_of(found_in('a.md', 'b<i>\x1b.md'))
    ranking = Ranking((candidate,), Reason.BEST, passages=passages)
    assert list_sources(ranking) == ['b<i>\\x1b.md, A > B']
    # A document's passage is named by its heading.
    assert chosen_knowledge(ranking)[0] == ['B: ', 'title', []]
    without = replace(ranking, candidates=(Candidate('Bees sing.'),))
    assert list_sources(without) == ['a.md, A > B', 'b<i>\\x1b.md, A > B']
    assert list_sources(replace(without, passages=passages_of('Bees.'))) == []


TEXT = 'Madonna sang in 1985.'
GOOD, DOUBT, BAD = Status.SUPPORTED, Status.UNSUPPORTED, Status.CONTRADICTED


@pytest.mark.parametrize(
    'spans, expected',
    [
        # Nested: the graver status shows, whichever comes first.
        (
            [(0, 12, GOOD), (0, 7, BAD)],
            [('Madonna', BAD, (0, 1)), (' sang', GOOD, (0,)), (' in 1985.', None, ())],
        ),
        # Overlapping.
        (
            [(0, 12, DOUBT), (8, 20, BAD)],
            [
                ('Madonna ', DOUBT, (0,)),
                ('sang', BAD, (0, 1)),
                (' in 1985', BAD, (1,)),
                ('.', None, ()),
            ],
        ),
        # Beyond the text, before it, empty, backwards.
        ([(16, 999, BAD)], [('Madonna sang in ', None, ()), ('1985.', BAD, (0,))]),
        ([(-5, 7, GOOD)], [('Madonna', GOOD, (0,)), (' sang in 1985.', None, ())]),
        ([(12, 7, BAD)], [(TEXT, None, ())]),
        # Chit-chat is not marked.
        ([(0, 7, Status.GENERIC)], [(TEXT, None, ())]),
    ],
)
def test_a_text_is_cut_at_its_spans(spans, expected):
    marks = [Mark(Span('', s, e), status, n) for n, (s, e, status) in enumerate(spans)]
    pieces = cut(TEXT, marks)
    assert [(p.text, p.status, p.claims) for p in pieces] == expected


def test_a_clipped_text_keeps_its_marks_and_says_what_it_left_out():
    pieces = [
        TextPiece('w ' * 500),
        TextPiece('1985', BAD, (0,)),
        TextPiece(' or '),
        TextPiece('86', BAD, (1,)),
        TextPiece(' w' * 500),
    ]
    clipped = clip(pieces, limit=300)
    assert clipped[2:-2] == pieces[1:-1]
    text = ''.join(p.text for p in clipped)
    assert len(text) < 200
    assert text.count('characters ...]') == 2
    assert '[... 942 characters ...]' in text


def test_a_clipped_text_without_marks_keeps_its_titles_and_its_beginning():
    passages = (Passage('alpha ' * 40, 'One'), Passage('beta ' * 40, 'Two'))
    clipped = clip(knowledge_pieces(passages, None), limit=100)
    assert [piece.text for piece in clipped if piece.status] == ['One: ', 'Two: ']
    assert len(clipped[1].text) > 80
    assert len(clipped) == 5
