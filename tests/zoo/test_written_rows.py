"""Rows that were written by hand: what ships, and how it meets its passages."""

import random
import re

import pytest

from parlai_q2.errors import InputError
from parlai_q2.tasks.twins.reader import read_sheet
from parlai_q2.zoo.train.distil_rows import rows_of
from parlai_q2.zoo.train.rows import is_held_out, passage_key, read_rows, write_rows
from parlai_q2.zoo.train.twins import written

PASSAGE = 'The harbour  was built in 1854.'
OTHER = 'The tower was built in 1969.'


def test_a_key_is_of_the_words_and_not_of_the_spaces():
    assert passage_key(PASSAGE) == passage_key('The harbour was built in 1854.')
    assert passage_key(PASSAGE) != passage_key(OTHER)


def test_what_ships_is_whole():
    twins = written.shipped_rows(*written.TWINS)
    read = written.shipped_rows(written.READ)
    assert len(twins) > 7000
    assert len(read) > 4000
    for row in twins:
        assert ('k' in row) != ('p' in row)
        assert row['y'] in (1, 2)
        assert row['right'] != row['wrong']
    assert {row['y'] for row in read} == {0, 1, 2, 3}
    assert all(re.fullmatch('[0-9a-f]{12}', row['k']) for row in read)


# Long passages share five words by chance ("be accompanied by an adult").
@pytest.mark.parametrize(
    'name, words', [('written.jsonl', 5), ('written_varied.jsonl', 7)]
)
def test_no_passage_is_like_one_of_the_twins_that_a_detector_is_chosen_by(name, words):
    def runs(text):
        found = re.findall(r'\w+', text.lower())
        return {tuple(found[n : n + words]) for n in range(len(found) - words + 1)}

    measured = set().union(*(runs(row.knowledge) for row in read_sheet()))
    made_up = [r['p'] for r in written.shipped_rows(name) if 'p' in r]
    assert measured
    assert made_up
    assert not [text for text in made_up if runs(text) & measured]


def test_rows_meet_their_passages():
    rows = [
        {'k': passage_key(PASSAGE), 'h': 'one'},
        {'k': passage_key('not given'), 'h': 'two'},
        {'p': OTHER, 'h': 'three'},
    ]
    matched = list(written.with_passages(rows, [PASSAGE]))
    assert [(r['p'], r['h']) for r in matched] == [
        ('The harbour was built in 1854.', 'one'),
        (OTHER, 'three'),
    ]


def test_passages_of_something_else_are_refused():
    with pytest.raises(InputError, match='--dialogues'):
        list(written.with_passages([{'k': passage_key(PASSAGE)}], [OTHER]))


def test_right_replies_about_oneself_are_not_taught():
    row = {'p': OTHER, 'kind': 'time', 'wrong': 'It is from 1996.', 'y': 2}
    (taught,) = written.twin_rows([{**row, 'right': 'It dates from the Sixties.'}])
    assert taught['h'] == 'it dates from the sixties.'
    assert taught['y_wrong'] == 2
    seen = {**row, 'right': "I've seen it, it is from 1969."}
    assert not list(written.twin_rows([seen]))
    personal = {'p': OTHER, 'h': 'My aunt built it.'}
    assert not list(written.judged_rows([{**personal, 'y': 0}]))
    assert len(list(written.judged_rows([{**personal, 'y': 1}]))) == 1


def test_small_talk_beside_a_twin_is_a_row_of_its_own():
    row = {'p': OTHER, 'kind': 'time', 'right': 'From 1969.', 'wrong': 'New.', 'y': 2}
    twin_rows = list(written.twin_rows([{**row, 'generic': 'How nice!'}]))
    replies = [(twin['h'], twin['y']) for twin in twin_rows]
    assert replies == [('from 1969.', 0), ('how nice!', 3)]


def test_the_command_writes_rows_for_the_trainer(tmp_path, monkeypatch):
    texts = [f'Passage {n}.' for n in range(60)]
    rows = [{'k': passage_key(text), 'h': 'Yes.', 'y': 2} for text in texts]
    monkeypatch.setattr(written, 'shipped_rows', lambda *names: rows)
    write_rows(tmp_path / 'replies.jsonl', [{'k': text, 'r': ''} for text in texts])
    talk = [f'The passage of the turn number {n}.' for n in range(10)]
    turns = [{'k': text, 'h': ['Which one?'], 'r': 'Well!'} for text in talk]
    write_rows(tmp_path / 'turns.jsonl', turns)
    written.main(
        ['--replies', str(tmp_path / 'replies.jsonl'), '--outdir', str(tmp_path)]
        + ['--dialogues', str(tmp_path / 'turns.jsonl')]
    )
    train = read_rows(tmp_path / 'written.train.jsonl.gz')
    valid = read_rows(tmp_path / 'written.valid.jsonl.gz')
    assert len(train) + len(valid) == 60 + 10
    human = [row for row in train if row['h'] == 'well!']
    assert len(human) == 10
    assert not any('y' in row for row in human)
    held_out = {text.lower() for text in texts if is_held_out(text.lower())}
    assert {row['p'] for row in valid} == held_out
    assert held_out
    assert not held_out & {row['p'] for row in train}


def test_a_detector_is_distilled_on_sentences_as_it_reads_them():
    passage = 'The museum opened in 1903. It was designed by Anna Keller.'
    reply = 'Nice! It opened in nineteen hundred and three.'
    rows = [
        row
        for seed in range(20)
        for row in rows_of([passage], reply, random.Random(seed))
    ]
    assert {row['h'] for row in rows} == {'nice!', 'it opened in 1903.'}
    # The best sentence is sometimes read alone.
    premises = {row['p'] for row in rows if row['h'] != 'nice!'}
    assert premises == {passage.lower(), 'the museum opened in 1903.'}
