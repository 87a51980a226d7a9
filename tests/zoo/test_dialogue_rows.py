"""
Hard rows for the detector: each label holds.
"""

import pytest

from parlai_q2.text.pipeline import pipeline
from parlai_q2.zoo.train.data import read_rows, write_rows
from parlai_q2.zoo.train.dialogue_rows import (
    CHIT_CHAT,
    DialogueRows,
    faithful,
    main,
    pair,
)
from parlai_q2.zoo.train.overstatements import (
    everything,
    keeps_support,
    only_one,
    superlative,
    swapped_roles,
    without_hedge,
)

TURNS = [
    (
        'Paris is one of the largest cities in Europe.',
        'Paris is one of the largest cities',
    ),
    ('The hunter chased the bear in 1969.', 'The hunter chased the bear in 1969.'),
    ('Honey was sold in Kenya by Ann Lee.', 'honey was sold in Kenya'),
    ('Many spiders eat small insects at night.', 'Many spiders eat small insects'),
]


@pytest.fixture(scope='module')
def maker():
    return DialogueRows(faithful(TURNS), seed=3)


def test_one_of_several_is_said_to_be_the_only_one():
    assert only_one('It is one of the largest cities.') == 'It is the largest city.'
    assert only_one('one of the best churches') == 'the best church'
    assert only_one('one of the most famous film stars') == 'the most famous film star'
    assert only_one('It is the largest city.') is None


def test_a_hedge_is_lost():
    assert without_hedge('It is almost perfect.') == 'It is perfect.'
    assert without_hedge('Possibly it rains.') == 'It rains.'
    # "often" is let pass by most readers; "not nearly" turns round without "nearly".
    assert without_hedge('It often rains.') is None
    assert without_hedge('It is not nearly done.') is None


@pytest.mark.parametrize(
    'text, changed',
    [
        ('Some dogs bark.', 'All dogs bark.'),
        ('He met many of the dogs.', 'He met all of the dogs.'),
        ('It can be used.', 'It will always be used.'),
        ('one of the most famous dogs', None),
        ('It was many years ago.', None),
        ('It may have rained.', None),
        ('Some dogs do not bark.', None),
    ],
)
def test_some_are_said_to_be_all(text, changed):
    assert everything(text) == changed


def test_a_quality_is_said_to_be_the_highest():
    assert superlative('It is a famous song.') == 'It is the most famous song.'
    assert superlative('A popular song.') == 'The most popular song.'
    assert superlative('It is the most famous song.') is None
    assert superlative('It was never a famous song.') is None


@pytest.mark.parametrize(
    'text, changed',
    [
        ('The hunter chased the bear in 1969.', 'The bear chased the hunter in 1969.'),
        ('Ann Lee defeated Bob Ray.', 'Bob Ray defeated Ann Lee.'),
        ('The boy met the girl.', None),  # true either way
        ('He chased the bear.', None),  # "The bear chased he."
        ('The bear was chased.', None),
    ],
)
def test_roles_change_places(text, changed):
    assert swapped_roles(pipeline()(text)) == changed


def test_only_what_the_knowledge_says_in_its_own_words_is_sure():
    assert keeps_support('bees sting', 'Most bees sting.')
    assert not keeps_support('bees always sting', 'Most bees sting.')
    kept = faithful([*TURNS, ('Bees sting.', 'wow bees really do sting people a lot')])
    assert len(kept) == len(TURNS)


def test_a_question_is_not_changed():
    assert not faithful([('Do bees sting at night?', 'Do bees sting at night?')])


def test_right_rows_say_what_their_knowledge_says(maker):
    for i in range(len(maker.grounded)):
        for _ in range(6):
            row = maker.right(i)
            assert row['y'] == 0
            assert keeps_support(row['h'].replace('.', ''), row['p'])


@pytest.mark.parametrize(
    'change, label, said',
    [
        ('only-one', 1, 'Paris is the largest city'),
        ('roles', 2, 'The bear chased the hunter in 1969.'),
        ('negation', 2, 'honey was not sold in Kenya'),
        ('all', 1, 'All spiders eat small insects'),
    ],
)
def test_wrong_rows_have_the_class_of_their_change(maker, change, label, said):
    made = [maker.changes[change](i) for i in range(len(maker.grounded))]
    assert (label, said) in [(row['y'], row['h']) for row in made if row]


def test_an_added_statement_is_not_in_the_knowledge(maker):
    row = maker.changes['added'](0)
    said = row['h'].removeprefix(maker.grounded[0].response + '. ')
    assert row['y'] == 1
    assert said in [one.response for one in maker.grounded[1:]]
    assert not keeps_support(said, row['p'])


def test_a_statement_that_the_knowledge_has_is_not_added():
    (turn,) = faithful(TURNS[1:2])
    assert DialogueRows([turn]).changes['added'](0) is None


def test_more_knowledge_and_chit_chat_leave_the_statement_as_it_is(maker):
    row = pair(TURNS[1][0], TURNS[1][1], 0, 'hard-right')
    dressed = [maker.dressed(1, row) for _ in range(40)]
    assert all(TURNS[1][0] in d['p'] and d['h'].endswith(TURNS[1][1]) for d in dressed)
    assert all(d['y'] == 0 for d in dressed)
    longer = [d for d in dressed if d['p'] != row['p']]
    chatty = [d for d in dressed if d['h'] != row['h']]
    assert 8 <= len(longer) <= 32 and 4 <= len(chatty) <= 25
    assert all(d['h'].removesuffix(row['h']).strip() in CHIT_CHAT for d in chatty)


def test_held_out_rows_are_of_other_knowledge(tmp_path):
    turns = [
        {
            'k': f'The hunter chased bear {n} up the hill.',
            'r': f'hunter chased bear {n} up',
        }
        for n in range(40)
    ]
    write_rows(tmp_path / 'turns.jsonl', turns)
    train, valid = tmp_path / 'train.jsonl', tmp_path / 'valid.jsonl'
    main(
        ['--turns', str(tmp_path / 'turns.jsonl'), '--outfile', str(train)]
        + ['--valid', str(valid)]
    )
    known = [
        {t['k'] for t in turns if any(t['k'] in r['p'] for r in read_rows(f))}
        for f in (train, valid)
    ]
    assert known[0] and known[1] and not known[0] & known[1]


def test_the_command_makes_a_right_and_a_wrong_row_of_each_turn(tmp_path):
    turns = [{'k': k, 'r': r} for k, r in TURNS]
    write_rows(tmp_path / 'turns.jsonl', turns)
    out = tmp_path / 'hard.jsonl'
    main(['--turns', str(tmp_path / 'turns.jsonl'), '--outfile', str(out)])
    rows = read_rows(out)
    assert sum(row['y'] == 0 for row in rows) == len(TURNS)
    assert sum(row['y'] > 0 for row in rows) == len(TURNS)
