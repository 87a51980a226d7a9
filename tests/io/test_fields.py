"""What is read of files whose fields, separators or kind are not the usual ones."""

import json

import pytest

from parlai_q2.errors import ConfigError, InputError
from parlai_q2.io.fields import read_fields
from parlai_q2.io.read import read_records
from parlai_q2.io.world_logs import read_dialog
from parlai_q2.runs.pool_records import read_pools
from tests.files import write_lines

GOOD = {'knowledge': 'K', 'response': 'R'}


def read(tmp_path, text, name='in.jsonl', **options):
    path = tmp_path / name
    path.write_text(text, encoding='utf-8')
    return list(read_records(path, **options))


@pytest.mark.parametrize('mark', [',', ';', '\t'])
def test_the_header_tells_what_separates_the_cells_of_a_csv(tmp_path, mark):
    rows = [['id', 'knowledge', 'response'], ['1', '"a, b; c"', '1,5']]
    if mark == ',':
        rows[1][2] = '"1,5"'
    text = '\ufeff' + ''.join(mark.join(row) + '\r\n' for row in rows)
    (record,) = read(tmp_path, text, 'in.csv')
    assert record.fields == {'id': '1', 'knowledge': 'a, b; c', 'response': '1,5'}
    assert record.line == 2


def test_reads_tables_as_excel_and_people_write_them(tmp_path):
    text = 'sep=|\r\nid|knowledge|response\r\n1|a, b|R\r\n'
    (record,) = read(tmp_path, text, 'in.csv')
    assert record.fields == {'id': '1', 'knowledge': 'a, b', 'response': 'R'}
    assert record.line == 3
    (record,) = read(tmp_path, 'knowledge, response\n"a, b", "c, d"\n', 'in.csv')
    assert record.fields == {'knowledge': 'a, b', 'response': 'c, d'}


def test_two_columns_of_one_name_are_refused(tmp_path):
    text = 'knowledge,response,response,note,note\nK,one,two,,\n'
    (record,) = read(tmp_path, text, 'in.csv')
    assert "line 1: names 'response' twice. Rename one." in str(record.error)


@pytest.mark.parametrize(
    'text, filter_',
    [
        (json.dumps([GOOD, GOOD]), '.[]'),
        (json.dumps([GOOD, GOOD], indent=1), '.[]'),
        (f'[{json.dumps(GOOD)},\n{json.dumps(GOOD)}]', '.[]'),
        (json.dumps(GOOD, indent=1), '.'),
    ],
)
def test_a_document_over_many_lines_is_one_error_that_says_how_to_convert_it(
    tmp_path, text, filter_
):
    for records in (read(tmp_path, text), list(read_pools(tmp_path / 'in.jsonl'))):
        (record,) = records
        assert f"jq -c '{filter_}' IN.json > OUT.jsonl" in str(record.error)


@pytest.mark.parametrize(
    'begins, message',
    [(b'PK\x03\x04', 'Excel'), (b'PAR1', '.parquet'), (b'\xfd7zXZ', 'unxz')],
)
def test_other_kinds_of_files_are_named(tmp_path, begins, message):
    (tmp_path / 'in.csv').write_bytes(begins + bytes(range(256)))
    with pytest.raises(InputError, match=message):
        list(read_records(tmp_path / 'in.csv'))


def test_a_world_log_need_not_be_named_as_one(tmp_path):
    messages = [{'text': 'hi', 'knowledge': 'K'}, {'text': 'hello'}]
    text = '\n' + json.dumps({'dialog': [messages]}) + '\n'
    (record,) = read(tmp_path, text)
    assert record.parsed.response == 'hello'
    assert record.fields['id'] == '2.0'
    # Unless it is a record that has such a field.
    (record,) = read(tmp_path, json.dumps({**GOOD, 'dialog': [messages]}))
    assert record.parsed.response == 'R'


def test_fields_that_look_like_an_input_are_named_once(tmp_path, caplog):
    lines = [json.dumps({**GOOD, 'question': 'Q', 'note': 'N'})] * 3
    read(tmp_path, '\n'.join(lines))
    (message,) = caplog.messages
    assert message.startswith(
        'Not read: question. To read it as history: --fields history=question.'
    )
    assert '--fields history=question' in message
    caplog.clear()
    read(tmp_path, 'Knowledge,Answer\nK,R\n', 'in.csv')
    assert '--fields knowledge=Knowledge,response=Answer.' in caplog.messages[0]
    caplog.clear()
    names = {'history': 'question'}
    records = read(tmp_path, '\n'.join(lines), names=names)
    assert [r.parsed.history for r in records] == [('Q',)] * 3
    assert caplog.messages == []
    assert records[0].fields['question'] == 'Q'


def test_all_that_a_pool_may_mean_is_named_with_the_option_that_reads_it(
    tmp_path, caplog
):
    path = tmp_path / 'pools.jsonl'
    line = {'context': 'K', 'question': 'Q', 'replies': ['R'], 'response': 'no pool'}
    path.write_text(f'{json.dumps(line)}\n' * 2)
    bad = list(read_pools(path))
    (message,) = caplog.messages
    option = 'knowledge=context,history=question,candidates=replies'
    assert f'--fields {option}.' in message
    assert all(record.error for record in bad)
    caplog.clear()
    for record in read_pools(path, read_fields(option)):
        assert record.parsed.knowledge_text == 'K'
        assert record.parsed.history == ('Q',)
        assert record.parsed.candidates[0].text == 'R'
    assert caplog.messages == []


def test_pools_are_told_from_responses(tmp_path):
    (record,) = read(tmp_path, '{"knowledge": "K", "candidates": ["a"]}')
    assert str(record.error).endswith('This is a file for: parlai_q2 rerank')


@pytest.mark.parametrize('names', ['question', 'turn=x', 'history=', 'id=a,id=b'])
def test_names_that_are_no_pairs_are_refused(names):
    with pytest.raises(ConfigError, match='--fields takes pairs'):
        read_fields(names)


def test_the_option_names_a_header_with_a_comma(tmp_path):
    text = '"Answer, short",answer,knowledge,response\nR,A,K,200\n'
    names = read_fields('"response=Answer, short"')
    (record,) = read(tmp_path, text, 'in.csv', names=names)
    assert record.parsed.response == 'R'
    # The user's own field of that name is not lost.
    assert record.fields['given_response'] == '200'


THOUGHT = '<think>Two?</think>Five.'
PARTS = [{'type': 'text', 'text': 'Fi'}, {'type': 'text', 'text': 've.'}]


@pytest.mark.parametrize(
    'response',
    [
        THOUGHT,
        PARTS,
        {'role': 'assistant', 'content': THOUGHT},
        [{'role': 'user', 'content': 'a'}, {'role': 'assistant', 'content': 'Five.'}],
    ],
)
def test_a_record_has_the_text_that_people_see(tmp_path, response):
    history = ['Hi.', {'role': 'user', 'content': 'How many?'}]
    record = {'knowledge': 'k', 'response': response, 'history': history}
    [read] = read_records(write_lines(tmp_path / 'in.jsonl', record))
    assert read.error is None
    assert read.parsed.response == read.fields['response'] == 'Five.'
    assert read.parsed.history == ('Hi.', 'How many?')
    assert read.fields['given_response'] == response


def test_candidates_have_it_too(tmp_path):
    candidates = [THOUGHT, {'content': PARTS}, {'text': 'a'}]
    candidates.append({'text': THOUGHT, 'score': -3.0})
    pool = {'knowledge': 'k', 'candidates': candidates}
    [read] = read_pools(write_lines(tmp_path / 'in.jsonl', pool))
    assert [c.text for c in read.parsed.candidates] == ['Five.', 'Five.', 'a', 'Five.']
    assert read.fields['candidates'][3] == {'text': 'Five.', 'score': -3.0}
    assert read.fields['given_candidates'] == candidates


def test_a_text_without_thoughts_stays_as_it_is(tmp_path):
    record = {'knowledge': 'k', 'response': ' Five. ', 'history': ['a ']}
    [read] = read_records(write_lines(tmp_path / 'in.jsonl', record))
    assert read.fields == record


@pytest.mark.parametrize('response', [5, ['Five.'], [[]], {'text': 'Five.'}])
def test_rejects_values_that_are_no_messages(tmp_path, response):
    record = {'knowledge': 'k', 'response': response}
    [read] = read_records(write_lines(tmp_path / 'in.jsonl', record))
    assert "'response' must be a string" in str(read.error)


@pytest.mark.parametrize('text', [THOUGHT, PARTS, 'Five.'])
def test_a_world_log_has_it_too(text):
    [(_, fields)] = read_dialog([[{'text': 'How many?'}, {'text': text}]])
    assert fields['response'] == 'Five.'
