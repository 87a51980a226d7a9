"""The sample that ships: its records, its views, its datatypes."""

import json

import pytest

from parlai_q2.errors import RecordError
from parlai_q2.tasks.grounded_sample.reader import SAMPLE, read_sample
from tests.tasks.evaluating import messages

TASK = 'parlai_q2.tasks.grounded_sample.agents'
RECORDS = [json.loads(line) for line in SAMPLE.read_text(encoding='utf-8').splitlines()]
EVALUATION = [r for r in RECORDS if r['fold'] == 'eval']


def ids(task=TASK, datatype='valid'):
    return [m['turn_id'] for m in messages(task, datatype)]


def conversation(record):
    return record['id'].rpartition('-')[0]


def test_a_record_is_complete_and_its_knowledge_is_among_the_sentences():
    for record in RECORDS:
        assert all(record.values())
        assert record['knowledge'] in record['passage']
        assert len(record['passage']) >= 3
        assert record['response'] != record['gold']


def test_valid_and_test_are_the_evaluation_turns_and_train_has_its_own():
    evaluation = [r['id'] for r in EVALUATION]
    assert ids(datatype='valid') == ids(datatype='test') == evaluation
    train = {r['id'] for r in RECORDS} - set(evaluation)
    assert set(ids(datatype='train:evalmode')) == train
    assert not {conversation(r) for r in EVALUATION} & {i[:-2] for i in train}


def test_conversations_can_be_had_by_name_in_their_order_from_either_fold():
    names = [conversation(RECORDS[-1]), conversation(RECORDS[0])]
    chosen = ids(f'{TASK}:DialogueTeacher:{":".join(names)}')
    expected = [r['id'] for n in names for r in RECORDS if conversation(r) == n]
    assert chosen == expected


@pytest.mark.parametrize('line', ['', '[]', '{"id": "a-1"}', 'no json'])
def test_a_line_that_is_no_record_is_named(tmp_path, line):
    path = tmp_path / 'sample.jsonl'
    path.write_text(json.dumps(RECORDS[0]) + f'\n{line}\n')
    with pytest.raises(RecordError, match='line 2'):
        read_sample(path)
