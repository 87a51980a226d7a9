"""Pools for training the model of relevance."""

import random
from pathlib import Path

import pytest

from parlai_q2.zoo.train import relevance_pools
from parlai_q2.zoo.train.relevance_pools import (
    DECLINES,
    PoolSource,
    QaPools,
    courtesy_pool,
    dialogue_pool,
    is_best,
    is_held_out,
    moved_pool,
    read_rows,
    replay_pool,
    thinned,
    twin_pool,
    with_other_turns,
)

PASSAGE = 'The museum opened in 1903. It was designed by Anna Keller.'
ROWS = [
    {'q': 'Who designed it?', 'c': PASSAGE, 's': 46, 'a': 'Anna Keller'},
    {'q': 'When did it open?', 'c': PASSAGE, 's': 21, 'a': '1903'},
    {'q': 'Who paid for it?', 'c': PASSAGE, 's': -1, 'a': ''},
]
REPLIES = [
    {'text': 'Anna Keller.', 'g': 1, 'a': 2},
    {'text': 'Otto Brandt.', 'g': 0, 'a': 2},
    {'text': 'In 1910 it did.', 'g': 0, 'a': 0},
    {'text': 'It opened in 1903.', 'g': 1, 'a': 0},
    {'text': 'Museums are nice.', 'g': 'n', 'a': 0},
    {'text': 'Nobody knows.', 'g': 'n', 'a': 0},
]
POOL = {
    'kind': 'wh',
    'knowledge': [PASSAGE, 'Tickets are 7 euros.'],
    'history': ['Who designed it?'],
    'candidates': REPLIES,
}


DETECTOR = [
    {'p': 'The lake is deep.', 'h': said, 'y': y}
    for said, y in (('It is.', 0), ('It is old.', 1), ('No.', 2), ('Wow!', 3))
]
DIALOGUES = [
    {'k': 'Bees have five eyes.', 'h': ['I like bees.'], 'r': 'Five eyes!', 'f1': 0.7},
    {'k': 'Baikal is deep.', 'h': ['Is it deep?'], 'r': 'It is deep.', 'f1': 0.6},
    {'k': 'Rome is old.', 'h': ['Hi'], 'r': 'What?', 'f1': 0.1},
]


@pytest.fixture
def qa() -> QaPools:
    return QaPools(ROWS)


@pytest.fixture
def draw() -> random.Random:
    return random.Random(3)


def best(pool):
    return [one['text'] for one in pool['candidates'] if is_best(one)]


@pytest.mark.parametrize(
    'row, kind, expected',
    [
        (0, 'fragment', ['Anna Keller.']),
        (0, 'sentence', ['It was designed by Anna Keller.']),
        (1, 'sentence', ['The museum opened in 1903.']),
    ],
)
def test_the_answer_is_the_best_reply(qa, draw, row, kind, expected):
    pool = qa.pool(ROWS[row], kind, draw)
    assert (best(pool), pool['history']) == (expected, [ROWS[row]['q']])


def test_yes_or_no_goes_with_what_was_asked(qa, draw):
    pools = [qa.pool(ROWS[0], 'yesno', draw) for _ in range(20)]
    assert {(p['history'][0].endswith('Keller?'), *best(p)) for p in pools} == {
        (True, 'Yes, Anna Keller.'),
        (False, 'No, Anna Keller.'),
    }


def test_without_an_answer_declining_is_best(qa, draw):
    (text,) = best(qa.pool(ROWS[2], 'fragment', draw))
    assert text in DECLINES


def test_of_a_labelled_pool_a_best_and_a_wrong_reply_stay(draw):
    for _ in range(10):
        pool = thinned(POOL, draw)
        replies = pool['candidates']
        assert len(replies) == 4 and best(pool) == ['Anna Keller.']
        assert any(one['g'] == 0 for one in replies)
        assert sorted(pool['knowledge']) == sorted(POOL['knowledge'])


def test_the_best_reply_to_another_turn_is_beside_the_point():
    cost = {
        'kind': 'wh',
        'knowledge': POOL['knowledge'],
        'history': ['What does it cost?'],
        'candidates': [{'text': '7 euros.', 'g': 1, 'a': 2}],
    }
    first, second = with_other_turns([POOL, cost])
    assert first['candidates'][-1] == {'text': '7 euros.', 'g': 1, 'a': 0}
    assert second['candidates'][-1] == {'text': 'Anna Keller.', 'g': 1, 'a': 0}
    assert with_other_turns([POOL]) == [POOL]


def test_on_other_knowledge_nothing_is_supported_but_its_own_sentences(draw):
    other = {'knowledge': ['The lake is 120 metres deep.']}
    for _ in range(10):
        pool = moved_pool(POOL, other, draw)
        (text,) = best(pool)
        assert text in DECLINES and pool['knowledge'] in (other['knowledge'], [''])
        said = {one['text']: one['g'] for one in pool['candidates']}
        assert all(said[one['text']] == 0 for one in REPLIES if one['text'] in said)


def test_a_greeting_is_answered_by_a_greeting(draw):
    for _ in range(10):
        assert len(best(courtesy_pool([PASSAGE], draw))) == 1


def test_twins_have_no_turn():
    pool = twin_pool({'p': PASSAGE, 'right': 'Keller did.', 'wrong': 'Brandt did.'})
    assert pool['history'] == []
    assert [(c['g'], c['a']) for c in pool['candidates']] == [(1, None), (0, None)]


@pytest.mark.parametrize('row, supported', list(zip(DETECTOR, [1, 0, 0, 'n'])))
def test_replayed_rows_keep_their_class_after_any_turn(draw, row, supported):
    pools = [replay_pool(row, DIALOGUES, draw) for _ in range(30)]
    assert {p['candidates'][0]['g'] for p in pools} == {supported}
    assert {len(p['history']) for p in pools} == {0, 1}


def test_what_others_said_does_not_answer(draw):
    right, other = dialogue_pool(DIALOGUES[:2], draw)['candidates']
    assert is_best(right) and (other['g'], other['a']) == (0, 0)


def test_a_source_mixes_labelled_pools_with_made_ones(qa, draw):
    twins = [{'p': PASSAGE, 'right': 'Keller did.', 'wrong': 'Brandt did.'}]
    source = PoolSource([POOL], qa, twins, DETECTOR, DIALOGUES).draw(draw)
    kinds = [next(source).get('kind', 'twins') for _ in range(300)]
    assert 20 < kinds.count('wh') < 80
    assert {'twins', 'smalltalk', 'fragment', 'unanswerable'} < set(kinds)


def test_a_fifth_of_the_passages_is_held_out():
    pools = [{'knowledge': [f'Passage {n}.', 'More.']} for n in range(1000)]
    assert 150 < sum(map(is_held_out, pools)) < 250


def test_every_labelled_pool_has_a_best_reply():
    pools = read_rows(str(Path(relevance_pools.__file__).parent / 'reply_pools.jsonl'))
    assert len(pools) == 400 and 40 < sum(map(is_held_out, pools)) < 100
    for pool in pools:
        assert pool['knowledge'] and pool['history'] and best(pool)
        assert {one['g'] for one in pool['candidates']} <= {0, 1, 'n'}
        assert {one['a'] for one in pool['candidates']} <= {0, 1, 2}
