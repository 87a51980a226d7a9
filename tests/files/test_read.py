"""
Reading records: every format, and everything that can be wrong with a record.
"""

import csv
import json
import pickle

import pytest

from parlai_q2.errors import InputError
from parlai_q2.files.read import read_records

GOOD = {'knowledge': 'It opened in 1969.', 'response': 'in 1969', 'id': 'a', 'extra': 1}


def read(tmp_path, text, name='in.jsonl', **kwargs):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return list(read_records(path, **kwargs))


def test_json_lines_pass_other_fields_through(tmp_path):
    (record,) = read(tmp_path, json.dumps(GOOD) + '\n\n')
    assert record.fields == GOOD
    assert (record.example.response, record.example.id) == ('in 1969', 'a')


@pytest.mark.parametrize(
    'line, message',
    [
        ('{"knowledge": "k"', 'is not JSON'),
        ('[1, 2]', 'a JSON list'),
        ('"text"', 'a JSON str'),
        ('{"response": "r"}', "has no 'knowledge' field"),
        ('{"knowledge": "k"}', "has no 'response' field"),
        ('{"knowledge": "k", "response": null}', "'response' must be a string"),
        ('{"knowledge": 7, "response": "r"}', "'knowledge' must be a string, not int"),
        ('{"knowledge": ["a", 1], "response": "r"}', "'knowledge' must be a string"),
        ('{"knowledge": "k", "response": "r", "history": 3}', 'list of strings'),
        ('[' * 100_000, 'is not JSON'),
        ('\x00\x01', 'is not JSON'),
    ],
)
def test_a_bad_record_names_its_line_and_spoils_no_other(tmp_path, line, message):
    good = json.dumps(GOOD)
    records = read(tmp_path, f'{good}\n{line}\n{good}\n')
    assert [r.example is not None for r in records] == [True, False, True]
    assert message in str(records[1].error)
    assert 'in.jsonl, line 2' in str(records[1].error)


@pytest.mark.parametrize(
    'text',
    ['', '🐼' * 10, 'null \x00 byte', '\u202e right to left', 'x ' * 10_000, '<b>"\'&'],
)
def test_any_text_is_read_as_it_is(tmp_path, text):
    (record,) = read(tmp_path, json.dumps({'knowledge': text, 'response': text}))
    assert record.example.knowledge == record.example.response == text


def test_several_knowledge_sentences_become_lines(tmp_path):
    (record,) = read(tmp_path, '{"knowledge": ["a", "b"], "response": "r"}')
    assert record.example.knowledge == 'a\nb'


def test_bytes_that_are_no_utf8_spoil_nothing(tmp_path):
    (record,) = read(tmp_path, b'{"knowledge": "caf\xe9", "response": "r"}')
    assert record.error is None or 'JSON' in str(record.error)


def test_csv_with_quoted_line_breaks_and_commas(tmp_path):
    text = 'id,knowledge,response\n1,"a, b\nc","say ""hi"""\n2,k,r\n'
    records = read(tmp_path, text, 'in.csv')
    assert [r.example.knowledge for r in records] == ['a, b\nc', 'k']
    assert records[0].example.response == 'say "hi"'
    assert [r.line for r in records] == [2, 4]


def test_csv_with_too_many_columns_is_an_error_of_that_row(tmp_path):
    records = read(tmp_path, 'knowledge,response\na,b,c\nk,r\n', 'in.csv')
    assert '3 columns, and the header has 2' in str(records[0].error)
    assert records[1].example.knowledge == 'k'


def test_csv_with_too_few_columns_names_the_missing_field(tmp_path):
    (record,) = read(tmp_path, 'knowledge,response\nonly\n', 'in.csv')
    assert "'response'" in str(record.error)


def test_tsv_and_null_bytes(tmp_path):
    records = read(tmp_path, 'knowledge\tresponse\nk\0\tr\nk\tr\n', 'in.tsv')
    assert [r.error for r in records] == [None, None]


def test_a_long_passage_fits_in_a_csv_cell(tmp_path):
    text = 'knowledge,response\n"' + 'word ' * 60_000 + '",r\n'
    assert read(tmp_path, text, 'in.csv')[0].error is None


def test_world_logs_pair_each_response_with_its_turns_knowledge(tmp_path):
    dialog = [
        [{'text': 'hi', 'checked_sentence': 'K1'}, {'text': 'r1', 'id': 'model'}],
        [{'text': 'and?', 'knowledge': 'title __knowledge__ K2'}, {'text': 'r2'}],
    ]
    text = json.dumps({'dialog': dialog}) + '\n'
    records = read(tmp_path, text, format='world_logs')
    assert [(r.example.knowledge, r.example.response) for r in records] == [
        ('K1', 'r1'),
        ('K2', 'r2'),
    ]
    assert records[1].example.history == ('hi', 'r1', 'and?')


@pytest.mark.parametrize('name', ['in.parquet', 'in'])
def test_an_ending_that_says_nothing_asks_for_the_format(tmp_path, name):
    with pytest.raises(InputError, match='--format'):
        read(tmp_path, '', name)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match='Cannot read'):
        list(read_records(tmp_path / 'none.jsonl'))


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(InputError, match='Cannot read'):
        list(read_records(tmp_path, format='jsonl'))


def test_a_record_crosses_to_another_process_with_its_error(tmp_path):
    records = read(tmp_path, json.dumps(GOOD) + '\nnot json\n')
    back = pickle.loads(pickle.dumps(records))
    assert back[0] == records[0]
    assert str(back[1].error) == str(records[1].error)
    assert (back[1].error.source, back[1].error.line) == ('in.jsonl', 2)


def test_a_format_that_there_is_not_is_an_error_that_names_those_there_are(tmp_path):
    with pytest.raises(InputError, match="jsonl.*world_logs, not 'xml'"):
        read(tmp_path, '', format='xml')


def test_a_history_of_one_text_is_one_turn(tmp_path):
    (record,) = read(tmp_path, json.dumps({**GOOD, 'history': 'hello'}))
    assert record.example.history == ('hello',)


def test_csv_that_cannot_be_parsed_ends_with_an_error_of_its_line(
    tmp_path, monkeypatch, request
):
    limit = csv.field_size_limit()
    request.addfinalizer(lambda: csv.field_size_limit(limit))
    monkeypatch.setattr('parlai_q2.files.read.CSV_FIELD_LIMIT', 20)
    text = f'knowledge,response\nk,r\n{"x" * 30},r\nk,r\n'
    good, bad = read(tmp_path, text, 'in.csv')
    assert good.example.knowledge == 'k'
    assert 'in.csv, line 3' in str(bad.error) and 'cannot be read' in str(bad.error)


def test_what_is_no_world_log_is_an_error_of_its_line(tmp_path):
    turn = {'text': 'hi', 'knowledge': 'K', 'turn_id': 't7'}
    dialog = [[{'text': 'nobody answers'}], [turn, {'text': 'r'}], 'no turn at all']
    lines = ['nonsense', '{"a": 1}', json.dumps({'dialog': dialog})]
    records = read(tmp_path, '\n'.join(lines), format='world_logs')
    assert 'line 1' in str(records[0].error) and 'is not JSON' in str(records[0].error)
    assert 'is it a ParlAI world log?' in str(records[1].error)
    (found,) = records[2:]
    assert (found.example.id, found.example.response) == ('t7', 'r')
