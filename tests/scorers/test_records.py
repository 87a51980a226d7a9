"""Passages that are records: right replies score above wrong ones."""

from pathlib import Path

import pytest
import yaml

from parlai_q2 import Example, load_scorer
from parlai_q2.text.bindings import binds_otherwise
from parlai_q2.text.prepare import prepare_passage
from parlai_q2.text.records import read_records

FOLDER = Path(__file__).parent


def read_replies(passages):
    return [
        (passage['knowledge'], pair['right'], pair['wrong'])
        for passage in passages
        for pair in passage['replies']
    ]


PASSAGES = yaml.safe_load((FOLDER / 'record_passages.yaml').read_text('utf-8'))
REPLIES = read_replies(PASSAGES)
# Replies with several amounts of a record.
AMOUNTS = read_replies(
    yaml.safe_load((FOLDER / 'record_amounts.yaml').read_text('utf-8'))
)


def test_right_replies_about_records_score_above_wrong_ones():
    scorer = load_scorer('grounded_fast')
    rights = scorer.score([Example(k, right) for k, right, _ in REPLIES])
    wrongs = scorer.score([Example(k, wrong) for k, _, wrong in REPLIES])
    ordered = [a.value > b.value for a, b in zip(rights, wrongs, strict=True)]
    assert sum(ordered) / len(ordered) >= 0.9


def test_each_amount_of_a_reply_must_be_that_of_its_field():
    scorer = load_scorer('grounded_fast')
    rights = scorer.score([Example(k, right) for k, right, _ in AMOUNTS])
    wrongs = scorer.score([Example(k, wrong) for k, _, wrong in AMOUNTS])
    assert [w for w in wrongs if w.value > 0.15] == []
    accepted = sum(right.value > 0.5 for right in rights)
    assert accepted / len(rights) >= 0.95


@pytest.mark.parametrize('knowledge, right, wrong', [*REPLIES, *AMOUNTS])
def test_no_right_reply_is_of_another_record(knowledge, right, wrong):
    text = prepare_passage(knowledge).text
    assert not binds_otherwise(text, right.lower())
    assert not binds_otherwise(text, '')


@pytest.mark.parametrize(
    'knowledge, read',
    [
        (
            'Plans:\n- name: Basic\n  price: $9\n- name: Pro\n  price: $19',
            ['The price of Basic is $9.', 'The price of Pro is $19.'],
        ),
        (
            'plan: Basic\nprice: $9\nplan: Pro\nprice: $19',
            ['The price of Basic is $9.', 'The price of Pro is $19.'],
        ),
        (
            'phone: 12\nphone: 34\nname: Bea',
            ['The phone of Bea is 12.', 'The phone of Bea is 34.'],
        ),
    ],
)
def test_a_repeated_first_key_begins_another_record(knowledge, read):
    text = prepare_passage(knowledge).text
    assert [line for line in text.splitlines() if ' of ' in line] == read


@pytest.mark.parametrize(
    'knowledge, read',
    [
        (
            'plan,price,users\nBasic,,\nPro,20,\nTeam,50,9',
            [
                'The plan is Basic.',
                'The price of Pro is 20.',
                'The price of Team is 50.',
                'The users of Team is 9.',
            ],
        ),
        (
            '|Day|Slot|Class|\n|-|-|-|\n|Mon|9 am|Yoga|\n||10 am|Spin|',
            [
                'The slot of Mon is 9 am.',
                'The class of Mon is Yoga.',
                'The slot is 10 am.',
                'The class is Spin.',
            ],
        ),
        (
            '# Rooms\n\n| Room | Rate |\n|---|---|\n| Oak | 90 |\n| Elm | |',
            ['# Rooms', '', 'The rate of Oak is 90.', 'The room is Elm.'],
        ),
    ],
)
def test_an_empty_cell_moves_no_other_and_leaves_its_row_a_name(knowledge, read):
    text, places = read_records(knowledge)
    assert text.splitlines() == read
    assert len(places) == len(text)
    assert max(places) < len(knowledge)


def test_lines_that_end_with_commas_are_no_table():
    text = 'You need salt, pepper\ntwo eggs,\nsome flour,\nand a little milk.'
    assert read_records(text) is None


def test_values_of_other_records_are_seen():
    text = prepare_passage(PASSAGES[2]['knowledge']).text
    assert binds_otherwise(text, 'Dana Petrov owns R-22.')
    assert binds_otherwise(text, 'The budget of R-21 is 21,000 euros.')
    for reply in (
        'R-21 has not a high likelihood.',
        'Both R-21 and R-22 have owners.',
        'Omar Haddad has a budget of 21,000 euros.',
        'R-21 costs less than 21,000 euros.',
        'R-21 is owned by Dana Petrov, R-22 by Omar Haddad.',
    ):
        assert not binds_otherwise(text, reply), reply
