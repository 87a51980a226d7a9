"""The task of labelled pairs."""

import pytest
from parlai.core.params import ParlaiParser
from parlai.core.teachers import DialogTeacher, create_task_agent_from_taskname

from parlai_q2.errors import ConfigError, RecordError, TaskDataError
from parlai_q2.evaluate.sets import AnnotatedResponse
from parlai_q2.tasks.pairs.reader import parse_labels, read_pairs
from tests.files import write_lines

TASK = 'parlai_q2.tasks.pairs.agents'
FEVER = [
    {'claim': 'It is red.', 'evidence': 'The tea is red.', 'label': 'SUPPORTS'},
    {'claim': 'It is old.', 'evidence': 'The tea is new.', 'label': 'REFUTES'},
    {'claim': 'It is hot.', 'evidence': '', 'label': 'NOT ENOUGH INFO', 'id': 3},
]
LABELS = 'SUPPORTS=consistent,REFUTES=inconsistent,NOT ENOUGH INFO='


def teacher(**options):
    opt = ParlaiParser(True, False).parse_kwargs(task=TASK, datatype='valid', **options)
    [pairs_teacher] = create_task_agent_from_taskname(opt)
    return pairs_teacher


def messages(pairs_teacher):
    return [pairs_teacher.act() for _ in range(pairs_teacher.num_examples())]


def test_claims_and_evidence_are_responses_and_knowledge(tmp_path):
    write_lines(tmp_path / 'valid.jsonl', *FEVER)
    pairs_teacher = teacher(
        pairs_file=str(tmp_path / '{fold}.jsonl'), pairs_labels=LABELS
    )
    assert isinstance(pairs_teacher, DialogTeacher)
    assert pairs_teacher.num_episodes() == 2
    first, second = messages(pairs_teacher)
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
    pairs_teacher = teacher(pairs_file=str(path))
    assert [m['eval_labels'] for m in messages(pairs_teacher)] == [
        [r['label']] for r in FEVER
    ]
    candidates = messages(teacher(pairs_file=str(path)))[0]['label_candidates']
    assert candidates == ['NOT ENOUGH INFO', 'REFUTES', 'SUPPORTS']


@pytest.mark.parametrize('ending, mark', [('csv', ','), ('tsv', '\t')])
def test_tables_are_read_too(tmp_path, ending, mark):
    path = tmp_path / f'pairs.{ending}'
    path.write_text(mark.join(('knowledge', 'response', 'label')) + '\n')
    with path.open('a') as lines:
        lines.write(mark.join(('It is red.', '"Red, it is."', 'consistent')) + '\n')
    expected = AnnotatedResponse('It is red.', 'Red, it is.', 'consistent', episode='0')
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
        teacher()
    with pytest.raises(ConfigError, match='label=class'):
        parse_labels('SUPPORTS')
