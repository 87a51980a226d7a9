"""Rows that were made by reading: what ships, and how it meets its passages."""

import re

import pytest

from parlai_q2.errors import InputError
from parlai_q2.tasks.twins.reader import read_sheet
from parlai_q2.zoo.train.data import read_rows, write_rows
from parlai_q2.zoo.train.twins import written

PASSAGE = 'The harbour  was built in 1854.'
OTHER = 'The tower was built in 1969.'


def test_a_key_is_of_the_words_and_not_of_the_spaces():
    assert written.key_of(PASSAGE) == written.key_of('The harbour was built in 1854.')
    assert written.key_of(PASSAGE) != written.key_of(OTHER)


def test_what_ships_is_whole():
    twins, read = written.shipped(written.WRITTEN), written.shipped(written.READ)
    assert len(twins) > 4000 and len(read) > 4000
    for row in twins:
        assert ('k' in row) != ('p' in row)
        assert row['y'] in (1, 2) and row['right'] != row['wrong']
    assert {row['y'] for row in read} == {0, 1, 2, 3}
    assert all(re.fullmatch('[0-9a-f]{12}', row['k']) for row in read)


def test_no_passage_is_like_one_of_the_twins_that_a_detector_is_chosen_by():
    def runs(text, words=5):
        said = re.findall(r'\w+', text.lower())
        return {tuple(said[n : n + words]) for n in range(len(said) - words + 1)}

    measured = set().union(*(runs(one.knowledge) for one in read_sheet()))
    made_up = [r['p'] for r in written.shipped(written.WRITTEN) if 'p' in r]
    assert measured and made_up
    assert not [text for text in made_up if runs(text) & measured]


def test_rows_meet_their_passages():
    rows = [
        {'k': written.key_of(PASSAGE), 'h': 'one'},
        {'k': written.key_of('not given'), 'h': 'two'},
        {'p': OTHER, 'h': 'three'},
    ]
    found = list(written.with_passages(rows, [PASSAGE]))
    assert [(r['p'], r['h']) for r in found] == [
        ('The harbour was built in 1854.', 'one'),
        (OTHER, 'three'),
    ]


def test_passages_of_something_else_are_refused():
    with pytest.raises(InputError, match='--dialogues'):
        list(written.with_passages([{'k': written.key_of(PASSAGE)}], [OTHER]))


def test_right_replies_about_oneself_are_not_taught():
    row = {'p': OTHER, 'kind': 'time', 'wrong': 'It is from 1996.', 'y': 2}
    (taught,) = written.twins([{**row, 'right': 'It dates from the Sixties.'}])
    assert taught['h'] == 'it dates from the sixties.' and taught['y_wrong'] == 2
    assert not list(written.twins([{**row, 'right': "I've seen it, it is from 1969."}]))
    said = {'p': OTHER, 'h': 'My aunt built it.'}
    assert not list(written.candidates([{**said, 'y': 0}]))
    assert len(list(written.candidates([{**said, 'y': 1}]))) == 1


def test_small_talk_beside_a_twin_is_a_row_of_its_own():
    row = {'p': OTHER, 'kind': 'time', 'right': 'From 1969.', 'wrong': 'New.', 'y': 2}
    made = list(written.twins([{**row, 'generic': 'How nice!'}]))
    assert [(r['h'], r['y']) for r in made] == [('from 1969.', 0), ('how nice!', 3)]


def test_the_command_writes_rows_for_the_trainer(tmp_path, monkeypatch):
    old = [{'p': 'a', 'h': 'b', 'y': 0, 'src': 'old', 'z': [0.0, 0.0, 0.0, 0.0]}]
    others = [{'p': 'a', 'h': str(n), 'y': 1, 'src': 'far'} for n in range(3)]
    texts = [f'Passage {n}.' for n in range(60)]
    files = {
        written.READ: [{'k': written.key_of(t), 'h': 'Yes.', 'y': 2} for t in texts],
        written.WRITTEN: [
            {'p': OTHER, 'kind': 'time', 'right': 'Old.', 'wrong': 'New.', 'y': 2}
        ],
    }
    monkeypatch.setattr(written, 'shipped', files.get)
    write_rows(tmp_path / 'old.jsonl', old + others)
    write_rows(tmp_path / 'replies.jsonl', [{'k': text, 'r': ''} for text in texts])
    talk = [f'The passage of the turn number {n}.' for n in range(10)]
    turns = [{'k': text, 'h': ['Which one?'], 'r': 'Well!'} for text in talk]
    write_rows(tmp_path / 'turns.jsonl', turns)
    written.main(
        ['--replies', str(tmp_path / 'replies.jsonl'), '--outdir', str(tmp_path)]
        + ['--dialogues', str(tmp_path / 'turns.jsonl')]
        + ['--replay', str(tmp_path / 'old.jsonl')]
    )
    train = read_rows(tmp_path / 'written.train.jsonl.gz')
    valid = read_rows(tmp_path / 'written.valid.jsonl.gz')
    assert len(train) + len(valid) == 60 + 1 + 4 + 10
    heard = [row for row in train if row['h'] == 'well!']
    assert len(heard) == 10 and all(len(row['z']) == 4 for row in heard)
    assert sum(row['src'] in ('old', 'far') for row in train) == 4
    held = {row['p'] for row in valid}
    assert 0 < len(held) < 20 and not held & {row['p'] for row in train}
