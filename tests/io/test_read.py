"""Reading records: every format, and everything that can be wrong with a record."""

import csv
import gzip
import json

import pytest

from parlai_q2.errors import InputError, RecordError
from parlai_q2.io.formats import MAX_ROW_LINES
from parlai_q2.io.read import read_records
from parlai_q2.io.world_logs import COMMANDS_SKIPPED, RERANK_KNOWLEDGE

GOOD = {'knowledge': 'It opened in 1969.', 'response': 'in 1969', 'id': 'a', 'extra': 1}


def read(tmp_path, text, name='in.jsonl', **kwargs):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return list(read_records(path, **kwargs))


def test_json_lines_pass_other_fields_through(tmp_path):
    good = {**GOOD, 'knowledge': ['a', 'b'], 'history': 'hello'}
    (record,) = read(tmp_path, json.dumps(good) + '\n\n')
    assert record.fields == good
    assert record.parsed.knowledge_text == 'a\nb'
    assert record.parsed.history == ('hello',)
    assert (record.parsed.response, record.parsed.id) == ('in 1969', 'a')


@pytest.mark.parametrize(
    'line, message',
    [
        ('{"knowledge": "k"', "is not JSON (Expecting ',' delimiter, column 1"),
        ('[1, 2]', 'a JSON list'),
        ('"text"', 'a JSON str'),
        ('{"response": "r"}', "has no 'knowledge' field"),
        ('{"dialog": []}', 'is read with --format world_logs'),
        ('{"knowledge": "k"}', "has no 'response' field"),
        ('{"knowledge": "k", "response": null}', "'response' must be a string"),
        ('{"knowledge": 7, "response": "r"}', "'knowledge' must be a string or a list"),
        ('{"knowledge": ["a", 1], "response": "r"}', 'Passage 1 of the knowledge'),
        ('{"knowledge": "k", "response": "r", "history": 3}', 'list of strings'),
        ('[' * 100_000, 'is not JSON'),
        ('{"n": ' + '9' * 5_000 + '}', 'is not JSON'),
        ('\x00\x01', 'is not JSON'),
    ],
)
def test_a_bad_record_names_its_line_and_spoils_no_other(tmp_path, line, message):
    good = json.dumps(GOOD)
    records = read(tmp_path, f'{good}\n{line}\n{good}\n')
    assert [r.parsed is not None for r in records] == [True, False, True]
    assert message in str(records[1].error)
    assert 'in.jsonl, line 2' in str(records[1].error)


@pytest.mark.parametrize('bad', [b'caf\xe9', b'\xff', b'\xed\xa0\x80', b'\xc3'])
@pytest.mark.parametrize(
    'name, head, row',
    [
        ('in.jsonl', b'', b'{"knowledge": "%s", "response": "r"}\n'),
        ('in.csv', b'knowledge,response\n', b'%s,r\n'),
        ('in.tsv', b'knowledge\tresponse\n', b'%s\tr\n'),
    ],
)
def test_bytes_that_are_no_utf8_spoil_nothing(tmp_path, name, head, row, bad):
    good = 'caf\xe9'.encode()
    records = read(tmp_path, head + row % good + row % bad + row % good, name)
    texts = [r.parsed and r.parsed.knowledge_text for r in records]
    assert texts == ['caf\xe9', None, 'caf\xe9']
    line = 3 if head else 2
    assert f'{name}, line {line}: is not UTF-8' in str(records[1].error)
    assert 'iconv -f latin1 -t UTF-8' in str(records[1].error)
    # What stood for the bytes is written nowhere.
    assert repr(records[1]).isascii()
    assert 'udc' not in repr(records[1])


@pytest.mark.parametrize('name', ['in.jsonl', 'in.csv'])
@pytest.mark.parametrize(
    'data, kind, remedy',
    [
        ('\ufeff{}'.encode('utf-16-le'), 'is UTF-16', 'iconv -f UTF-16 -t UTF-8'),
        ('\ufeff{}'.encode('utf-16-be'), 'is UTF-16', 'iconv -f UTF-16 -t UTF-8'),
        ('\ufeff{}'.encode('utf-32-le'), 'is UTF-32', 'iconv -f UTF-32 -t UTF-8'),
        ('\ufeff{}'.encode('utf-32-be'), 'is UTF-32', 'iconv -f UTF-32 -t UTF-8'),
        # The bytes are part of the test's name, so they hold no time of day.
        (gzip.compress(b'{}', mtime=0), 'compressed with gzip', 'gunzip'),
    ],
)
def test_rejects_other_encodings_with_a_remedy(tmp_path, name, data, kind, remedy):
    with pytest.raises(InputError, match=rf'{name} .*{kind}.* {remedy}') as error:
        read(tmp_path, data, name)
    assert not isinstance(error.value, RecordError)


def test_the_mark_of_utf8_is_no_part_of_the_text(tmp_path):
    (record,) = read(tmp_path, '\ufeff' + json.dumps(GOOD))
    assert record.parsed.response == 'in 1969'


def test_csv_with_quoted_line_breaks_and_commas(tmp_path):
    text = 'id,knowledge,response\n1,"a, b\nc","say ""hi"""\n2,k,r\n'
    records = read(tmp_path, text, 'in.csv')
    assert [r.parsed.knowledge_text for r in records] == ['a, b\nc', 'k']
    assert records[0].parsed.response == 'say "hi"'
    assert [r.line for r in records] == [2, 4]


def test_a_cell_may_have_a_list_as_json(tmp_path):
    passages, turns = '["Tea is hot.", "Ice is cold."]', '["Hi!", "Tea?"]'
    rows = [['knowledge', 'history', 'response'], [passages, turns, 'It is hot.']]
    rows.append(['[1] Tea is hot.', 'Tea?', '[laughs] It is.'])
    with (tmp_path / 'in.csv').open('w', newline='') as stream:
        csv.writer(stream).writerows(rows)
    several, one = read(tmp_path, (tmp_path / 'in.csv').read_text(), 'in.csv')
    texts = [passage.text for passage in several.parsed.knowledge]
    assert texts == ['Tea is hot.', 'Ice is cold.']
    assert several.parsed.history == ('Hi!', 'Tea?')
    assert one.parsed.knowledge_text == '[1] Tea is hot.'
    assert one.parsed.response == '[laughs] It is.'


@pytest.mark.parametrize('name, mark', [('in.csv', ','), ('in.tsv', '\t')])
@pytest.mark.parametrize(
    'rows, bad',
    [
        # A quote that is left open.
        (['Bees dance.|"Bees dance.', 'k|r', 'k|r'], [2]),
        (['k|r', '', 'Bees dance.|"Bees dance.', 'k|r'], [4]),
        # Text after the quote that closes.
        (['"Bees" dance.|r', 'k|r'], [2]),
        # The next quote that opens closes it.
        (['k|"r', 'k|"r"', 'k|r'], [2]),
        (['k|r', 'k|"r', '"k"|"r"', 'k|"r'], [3, 5]),
        (['k|"r', 's" t', 'k|r'], [2, 3]),
    ],
)
def test_an_open_quote_drops_only_its_line(tmp_path, name, mark, rows, bad):
    lines = [row.replace('|', mark) for row in ['knowledge|response', *rows]]
    records = read(tmp_path, '\n'.join(lines) + '\n', name)
    assert [record.line for record in records if record.error] == bad
    good = [record.parsed.response for record in records if record.parsed]
    assert good == ['r'] * (len([row for row in rows if row]) - len(bad))
    first = next(record.error for record in records if record.error)
    assert f'{name}, line {bad[0]}: cannot be read' in str(first)
    assert 'Close every quote' in str(first)


def test_columns_of_equal_names_are_all_copied(tmp_path):
    text = 'knowledge,response,note,note,note.1,,\nk,r,a,b,c,,\n'
    [record] = read(tmp_path, text, 'in.csv')
    notes = {'note': 'a', 'note.1': 'b', 'note.1.1': 'c', '': ''}
    assert record.fields == {'knowledge': 'k', 'response': 'r', **notes}


@pytest.mark.parametrize('end', ['\n', '\r\n', '\r'])
def test_a_cell_of_many_lines_is_read_and_one_without_end_is_an_open_quote(
    tmp_path, end
):
    most = end.join(['x'] * (MAX_ROW_LINES // 2))
    rows = ['knowledge,response', f'"{most}","{most}"', f'"{most}', 'k,r']
    records = read(tmp_path, end.join(rows), 'in.csv')
    assert records[0].parsed.knowledge_text == records[0].parsed.response == most
    assert 'cannot be read' in str(records[1].error)
    assert records[-1].parsed.knowledge_text == 'k'


def test_tsv_and_null_bytes(tmp_path):
    records = read(tmp_path, 'knowledge\tresponse\nk\0\tr\nk\tr\n', 'in.tsv')
    assert [r.error for r in records] == [None, None]


def test_world_logs_pair_each_response_with_its_turns_knowledge(tmp_path):
    dialog = [
        [{'text': 'hi', 'checked_sentence': 'K1'}, {'text': 'r1', 'id': 'model'}],
        [{'text': 'and?', 'knowledge': 'title __knowledge__ K2'}, {'text': 'r2'}],
        [{'text': 'I typed it'}, {'text': 'r3', 'rerank_knowledge': 'K3'}],
        [{'text': 'I typed none'}, {'text': 'r4', 'rerank_knowledge': ''}],
    ]
    text = json.dumps({'dialog': dialog}) + '\n'
    records = read(tmp_path, text, format='world_logs')
    assert [(r.parsed.knowledge_text, r.parsed.response) for r in records] == [
        ('K1', 'r1'),
        ('K2', 'r2'),
        ('K3', 'r3'),
        ('', 'r4'),
    ]
    assert records[1].parsed.history == ('hi', 'r1', 'and?')


@pytest.mark.parametrize(
    'judged, label',
    [
        ({'response': 'r'}, 'consistent'),
        ({'labels': ['r']}, 'consistent'),
        ({}, 'consistent'),
        ({'response': 'another'}, None),
        ({'eval_labels': ['another']}, None),
    ],
)
def test_a_human_label_is_that_of_the_response_people_judged(tmp_path, judged, label):
    question = {'text': 'hi', 'knowledge': 'K', 'q2_label': 'consistent', **judged}
    text = json.dumps({'dialog': [[question, {'text': 'r'}]]})
    (record,) = read(tmp_path, text, format='world_logs')
    assert record.fields.get('q2_label') == label


@pytest.mark.parametrize(
    'knowledge',
    [
        'Bee __knowledge__ Five eyes.\nAnt __knowledge__ Six legs.',
        [{'title': 'Bee', 'text': 'Five eyes.'}, {'title': 'Ant', 'text': 'Six legs.'}],
    ],
)
def test_the_passages_of_a_world_log_stay_apart(tmp_path, knowledge):
    for question_fields, passages in (
        ({'knowledge': knowledge}, {}),
        ({}, {RERANK_KNOWLEDGE: knowledge}),
    ):
        dialog = [[{'text': 'hi', **question_fields}, {'text': 'r', **passages}]]
        (record,) = read(tmp_path, json.dumps({'dialog': dialog}), format='world_logs')
        titled_texts = [
            (passage.title, passage.text) for passage in record.parsed.knowledge
        ]
        assert titled_texts == [('Bee', 'Five eyes.'), ('Ant', 'Six legs.')]
        assert record.fields['knowledge'] == [
            {'title': title, 'text': text} for title, text in titled_texts
        ]


def test_a_format_that_is_not_known_is_an_error(tmp_path):
    remedies = {'in.xlsx': 'as CSV', 'in.doc': '--format', 'in': '--for'}
    for name, remedy in remedies.items():
        with pytest.raises(InputError, match=remedy):
            read(tmp_path, '', name)
    with pytest.raises(InputError, match=r"jsonl.*world_logs, not 'xml'"):
        read(tmp_path, '', format='xml')


def test_csv_that_cannot_be_parsed_is_an_error_of_its_line(
    tmp_path, monkeypatch, request
):
    limit = csv.field_size_limit()
    request.addfinalizer(lambda: csv.field_size_limit(limit))
    monkeypatch.setattr('parlai_q2.io.formats.CSV_FIELD_LIMIT', 20)
    text = f'knowledge,response\nk,r\n{"x" * 30},r\nk,r\n'
    good, bad, last = read(tmp_path, text, 'in.csv')
    assert good.parsed.knowledge_text == last.parsed.knowledge_text == 'k'
    assert 'in.csv, line 3' in str(bad.error)
    assert 'cannot be read' in str(bad.error)
    assert 'field limit (20)' in str(bad.error)


def test_commands_of_a_chat_are_no_turns_and_are_counted(tmp_path, caplog):
    why = [{'text': '/why'}, {'text': 'Best score.', 'rerank_command': 'why'}]
    # Without the mark it is what somebody said.
    dialog = [why, [{'text': '/r/aww'}, {'text': 'r1'}], why, [{'text': 'hi'}, {}]]
    text = json.dumps({'dialog': dialog}) + '\n'
    records = read(tmp_path, text * 2, format='world_logs')
    assert [r.fields['id'] for r in records] == ['1.1', '1.3', '2.1', '2.3']
    assert records[1].parsed.history == ('/r/aww', 'r1', 'hi')
    assert caplog.messages == [COMMANDS_SKIPPED.format(4)]


def test_lines_that_are_no_world_log_are_errors(tmp_path):
    turn = {'text': 'hi', 'knowledge': 'K', 'turn_id': 't7'}
    dialog = [[{'text': 'nobody answers'}], [turn, {'text': 'r'}], 'no turn at all']
    lines = ['nonsense', '{"a": 1}', json.dumps({'dialog': dialog})]
    records = read(tmp_path, '\n'.join(lines), format='world_logs')
    assert 'line 1' in str(records[0].error)
    assert 'is not JSON' in str(records[0].error)
    assert 'is it a ParlAI world log?' in str(records[1].error)
    (bad_record,) = records[2:]
    assert (bad_record.parsed.id, bad_record.parsed.response) == ('t7', 'r')
