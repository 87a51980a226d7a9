"""
Rows that teach a reader to abstain: each label holds.
"""

import json
import random

import pytest

from parlai_q2.text.pipeline import pipeline
from parlai_q2.zoo.train import hard_questions, machine_questions
from parlai_q2.zoo.train.edits import (
    PEOPLE,
    PLACE,
    TIME,
    EntityPool,
    asks_for,
    could_answer,
    entity_at,
    occurs_once,
    shape,
    without,
)
from parlai_q2.zoo.train.hard_questions import HardQuestions, lowered, usable
from parlai_q2.zoo.train.topics import TopicIndex

FOUNDED = 'Sephora was founded by Dominique Mandonnaud in 1969.'
MOVED = 'The company Sephora moved its head office to Milan before Christmas.'
OTHER = 'Barack Obama visited Kenya in 2015 and met Uhuru Kenyatta there.'


def row(question, text, answer):
    return {'q': question, 'c': text, 's': text.index(answer), 'a': answer, 'src': 'x'}


WHEN = row('When was Sephora founded?', FOUNDED, '1969')
ROWS = [
    WHEN,
    row('Where did Sephora move its office?', MOVED, 'Milan'),
    row('Whom did Barack Obama meet in Kenya?', OTHER, 'Uhuru Kenyatta'),
]


@pytest.fixture(scope='module')
def maker():
    return HardQuestions(ROWS, seed=1)


def parsed(maker, wanted):
    return next(one for one in maker.parsed if one.row is wanted)


def test_the_phrase_with_the_answer_is_gone_and_the_rest_stays(maker):
    made = maker.removed(parsed(maker, WHEN))
    assert made == {
        'q': WHEN['q'],
        'c': 'Sephora was founded by Dominique Mandonnaud.',
        's': -1,
        'a': '',
    }


def test_the_answer_gives_way_to_another_of_its_kind(maker):
    made = maker.answer(parsed(maker, WHEN))
    assert made['a'] == '2015'  # the only other year
    assert made['c'] == FOUNDED.replace('1969', '2015')
    assert made['c'][made['s'] :].startswith('2015')


def test_a_name_of_the_question_gives_way_to_one_the_text_lacks(maker):
    one = parsed(maker, ROWS[2])
    made = maker.question(one)
    assert (made['s'], made['a'], made['c']) == (-1, '', OTHER)
    new = set(made['q'].rstrip('?').split()) - set(ROWS[2]['q'].rstrip('?').split())
    assert new and not any(word in OTHER for word in new)


def test_another_text_of_the_same_topic_without_the_answer():
    index = TopicIndex([FOUNDED, MOVED, OTHER])
    assert index.near('When was Sephora founded?', FOUNDED, '1969') == MOVED


@pytest.mark.parametrize(
    'question, text, answer',
    [
        # The other text has the answer's word.
        ('Where is the Sephora shop opening?', FOUNDED, 'in Milan'),
        # It has all of the question's words, and may say it in other ones.
        ('Did Sephora move its office?', FOUNDED, '1969'),
        # A question of one content word fits any text.
        ('What is Sephora?', FOUNDED, 'a company'),
        # An answer of function words alone cannot be looked for.
        ('When was Sephora founded?', FOUNDED, 'in'),
    ],
)
def test_no_other_text_where_the_label_would_be_in_doubt(question, text, answer):
    assert TopicIndex([FOUNDED, MOVED, OTHER]).near(question, text, answer) is None


def test_a_longer_text_keeps_its_answer(maker):
    made = maker.more(parsed(maker, WHEN))
    assert made['a'] == '1969' and MOVED in made['c'] and FOUNDED in made['c']
    assert made['c'][made['s'] : made['s'] + 4] == '1969'


def removed(text, part):
    doc = pipeline()(text)
    start = text.index(part)
    return doc, without(doc, start, start + len(part))


def test_what_cannot_be_left_out_stays():
    # The subject is no phrase that a sentence can lose.
    assert (
        removed('Dominique Mandonnaud founded the company in 1969.', 'Dominique')[1]
        is None
    )


@pytest.mark.parametrize(
    'text, part, group, doubt',
    [
        # Another year is left.
        ('It opened in Paris in 1969 and closed there in 1987.', '1987', TIME, True),
        (
            'It was opened there by Ann Lee on a very cold morning.',
            'Ann Lee',
            PEOPLE,
            False,
        ),
        # "in a small village" says where, too.
        (
            'She was born near Paris in a small village by the sea.',
            'Paris',
            PLACE,
            True,
        ),
    ],
)
def test_what_is_left_must_not_answer(text, part, group, doubt):
    doc, found = removed(text, part)
    assert found is not None
    assert could_answer(doc, found[0], group, found[1]) is doubt


def test_people_who_need_no_name_may_still_be_named():
    # "the rights group" answers "who?" as well as its name does.
    doc, found = removed(
        'The rights group, Stonewall UK, said that attacks rose.', 'Stonewall'
    )
    assert found is None or could_answer(doc, found[0], PEOPLE, found[1])


@pytest.mark.parametrize(
    'text, part, once',
    [
        ('Bees in 1969', '1969', True),
        ('1969 and 1969', '1969', False),
        ('Jordan met Michael Jordan', 'Michael Jordan', False),
        ('The Hague and the sea', 'the sea', True),
    ],
)
def test_an_answer_must_stand_in_the_text_once(text, part, once):
    assert occurs_once(text, part) is once


def test_an_entity_is_replaced_by_one_that_looks_like_it():
    docs = [pipeline()(text) for text in (FOUNDED, OTHER)]
    pool, rng = EntityPool(docs), random.Random(0)
    assert pool.another('1969', 'DATE', {'1969'}, rng) == '2015'
    assert pool.another('1969', 'DATE', {'1969', '2015'}, rng) is None
    assert pool.another('the 1960s', 'DATE', set(), rng) is None


def test_an_entity_is_found_without_its_article():
    doc = pipeline()('He sold the Eiffel Tower in 1925.')
    found = entity_at(doc, doc.text.index('Eiffel'), 'Eiffel Tower')
    assert found is not None and 'Eiffel Tower' in found.text
    assert entity_at(doc, doc.text.index('Tower'), 'Tower') is None


def test_years_and_names_have_shapes():
    assert shape('1969') == shape('2015') != shape('the 1960s')
    assert shape('Ann Lee') == shape('Bob Ray') != shape('BBC')


def test_what_a_question_asks_for():
    assert asks_for('In which year was it?', TIME)
    assert not asks_for('What was it?', PEOPLE)


def test_lower_case_keeps_the_offsets():
    low = lowered({'q': 'Who?', 'c': 'It was Ann Lee.', 's': 7, 'a': 'Ann Lee'})
    assert low['c'][low['s'] :].startswith(low['a'] == 'ann lee' and 'ann lee')
    # A capital I with a dot becomes two characters.
    long = {'q': 'Who?', 'c': 'İ, Ann Lee', 's': 3, 'a': 'Ann Lee'}
    assert lowered(long) == long


def test_what_cannot_be_changed_is_not_usable():
    assert usable(WHEN)
    assert not usable({**WHEN, 's': -1, 'a': ''})
    assert not usable({**WHEN, 'c': FOUNDED.lower()})
    assert not usable({**WHEN, 's': 3})
    assert not usable({**WHEN, 'c': FOUNDED + ' more' * 60})


def test_the_command_writes_rows_whose_offsets_hold(tmp_path):
    source, made = tmp_path / 'rows.jsonl', tmp_path / 'hard.jsonl'
    source.write_text(''.join(json.dumps(one) + '\n' for one in ROWS))
    hard_questions.main(['--rows', str(source), '--outfile', str(made)])
    rows = [json.loads(line) for line in made.read_text().splitlines()]
    assert len(rows) == 3
    for one in rows:
        answerable = one['src'].startswith('edit')
        assert (one['s'] >= 0) is answerable
        end = one['s'] + len(one['a'])
        assert one['c'][one['s'] : end] == one['a'] if answerable else not one['a']


class Asker:
    settings: dict = {}

    def generate(self, pairs):
        return [[f'Who is {answer}?'] for answer, _ in pairs]


class Reader:
    settings: dict = {}

    def answer(self, pairs):
        from parlai_q2.records import Span

        # Ann Lee is found again, nobody else.
        return [
            Span('Ann Lee', 0, 7) if 'Ann Lee' in question else None
            for question, _ in pairs
        ]


def test_the_questions_kept_are_those_the_metric_keeps():
    from parlai_q2.q2.settings import Q2Settings

    text = 'Ann Lee met Barack Obama.'
    rows = list(machine_questions.machine_rows([text], Asker(), Reader(), Q2Settings()))
    assert rows == [
        {'q': 'Who is Ann Lee?', 'c': text, 's': 0, 'a': 'Ann Lee', 'src': 'machine'}
    ]
