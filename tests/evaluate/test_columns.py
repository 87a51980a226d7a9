"""Scores out of files of other people's making."""

import pytest

from parlai_q2.errors import ConfigError, InputError, RecordError, UnknownNameError
from parlai_q2.evaluate.measures import read_column

HEADER = 'knowledge,response,mine\n'


def read(tmp_path, text, name='scores.csv', column='mine'):
    path = tmp_path / name
    path.write_text(text)
    return read_column(f'{path}:{column}')


def test_a_column_has_its_texts_threshold_and_signature(tmp_path):
    column = read(tmp_path, HEADER + 'k,r,0.75\nk,"r, too",0\n')
    assert (column.name, column.threshold) == ('mine', 0.5)
    assert [column.scores[p].value for p in (('k', 'r'), ('k', 'r, too'))] == [0.75, 0]
    assert 'file:scores.csv|column:mine|threshold:0.5|sha256:' in column.signature


@pytest.mark.parametrize('cell', ['', 'nan', '-nan', 'NaN', 'None', 'null', 'N/A'])
def test_a_cell_without_a_number_is_left_out(tmp_path, cell):
    column = read(tmp_path, f'{HEADER}k,r,{cell}\nk,s,0.5\nk,s,\n')
    assert list(column.scores) == [('k', 's')]


@pytest.mark.parametrize(
    'rows, error, message',
    [
        ('k,r,high\n', RecordError, "line 2: mine is 'high'"),
        ('k,r,inf\n', RecordError, 'not a finite number'),
        ('k,r,0.1\nk,r,0.2\n', RecordError, 'was 0.1 earlier for the same'),
        ('k,r,\n', InputError, "no score in the column 'mine'"),
        ('', InputError, "no score in the column 'mine'"),
        ('k,r,0.1,0.2\n', RecordError, 'has 4 columns'),
    ],
)
def test_what_is_no_column_of_scores_is_refused(tmp_path, rows, error, message):
    with pytest.raises(error, match=message):
        read(tmp_path, HEADER + rows)


def test_an_unknown_column_is_answered_with_the_nearest_one(tmp_path):
    with pytest.raises(UnknownNameError, match="Did you mean 'mine'"):
        read(tmp_path, HEADER + 'k,r,1\n', column='mien')


@pytest.mark.parametrize('text', ['scores.csv', ':mine', 'scores.csv:', '=a.csv:b'])
def test_what_names_no_column_is_refused(text):
    with pytest.raises(ConfigError, match='FILE:COLUMN'):
        read_column(text)
