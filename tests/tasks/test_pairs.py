"""The task of labelled pairs."""

import pytest

from parlai_q2.errors import ConfigError, RecordError, TaskDataError
from parlai_q2.evaluate.sets import AnnotatedResponse
from parlai_q2.tasks.pairs.reader import parse_labels, read_pairs
from tests.files import write_lines
from tests.tasks.evaluating import messages

TASK = 'parlai_q2.tasks.pairs.agents'
FEVER = [
    {'claim': 'It is red.', 'evidence': 'The tea is red.', 'label': 'SUPPORTS'},
    {'claim': 'It is old.', 'evidence': 'The tea is new.', 'label': 'REFUTES'},
    {'claim': 'It is hot.', 'evidence': '', 'label': 'NOT ENOUGH INFO', 'id': 3},
]
LABELS = 'SUPPORTS=consistent,REFUTES=inconsistent,NOT ENOUGH INFO='


def test_claims_and_evidence_are_responses_and_knowledge(tmp_path):
    write_lines(tmp_path / 'valid.jsonl', *FEVER)
    path = str(tmp_path / '{fold}.jsonl')
    first, second = messages(TASK, pairs_file=path, pairs_labels=LABELS)
    assert first['text'] == 'The tea is red.\nIt is red.'
    assert first['response'] == 'It is red.'
    assert first['knowledge'] == first['checked_sentence'] == 'The tea is red.'
    assert first['eval_labels'] == ['consistent']
    assert second['eval_labels'] == ['inconsistent']
    assert second['episode_done']
    assert first['label_candidates'] == ['consistent', 'inconsistent']


@pytest.mark.parametrize('label, name', [(0, '0'), (False, 'false'), (1.5, '1.5')])
def test_a_label_may_be_a_number_or_a_truth_value(tmp_path, label, name):
    path = write_lines(tmp_path / 'all.jsonl', {**FEVER[0], 'label': label})
    assert [pair.label for pair in read_pairs(path)] == [name]
    (pair,) = read_pairs(path, parse_labels(f'{name}=inconsistent'))
    assert pair.label == 'inconsistent'


def test_labels_stay_as_they_are_where_nothing_else_is_said(tmp_path):
    path = write_lines(tmp_path / 'all.jsonl', *FEVER)
    shown = messages(TASK, pairs_file=str(path))
    assert [m['eval_labels'] for m in shown] == [[r['label']] for r in FEVER]
    candidates = ['NOT ENOUGH INFO', 'REFUTES', 'SUPPORTS']
    assert shown[0]['label_candidates'] == candidates


@pytest.mark.parametrize('ending, mark', [('csv', ','), ('tsv', '\t')])
def test_tables_are_read_too(tmp_path, ending, mark):
    path = tmp_path / f'pairs.{ending}'
    rows = ('knowledge', 'response', 'label'), ('It is red.', '"Red, it is."', 'yes')
    write_lines(path, *(mark.join(row) for row in rows))
    expected = AnnotatedResponse('It is red.', 'Red, it is.', 'yes', episode='0')
    assert read_pairs(path) == [expected]


@pytest.mark.parametrize(
    'record, says',
    [
        ({'claim': 'x', 'evidence': 'y'}, 'line 2: has no "label"'),
        ({'claim': 'x', 'evidence': 'y', 'label': None}, 'has no "label"'),
        ({'claim': 'x', 'evidence': 'y', 'label': 'MAYBE'}, 'SUPPORTS'),
        ({'claim': 'x', 'label': 'REFUTES'}, "no 'knowledge'"),
        ({'claim': 7, 'evidence': 'y', 'label': 'REFUTES'}, 'must be a string'),
        (['x'], 'JSON list'),
    ],
)
def test_a_bad_record_is_an_error_that_names_its_line(tmp_path, record, says):
    path = write_lines(tmp_path / 'pairs.jsonl', FEVER[0], record)
    with pytest.raises(RecordError, match=says) as error:
        read_pairs(path, parse_labels(LABELS))
    assert error.value.line == 2


def test_a_file_that_cannot_be_read_is_an_error(tmp_path):
    with pytest.raises(TaskDataError, match=r'{fold}'):
        read_pairs(tmp_path / 'valid.jsonl')
    with pytest.raises(TaskDataError, match='no pair'):
        read_pairs(write_lines(tmp_path / 'none.jsonl'))
    with pytest.raises(ConfigError, match='--pairs-file'):
        messages(TASK)
    with pytest.raises(ConfigError, match='label=class'):
        parse_labels('SUPPORTS')
