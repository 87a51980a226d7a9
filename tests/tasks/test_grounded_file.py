"""Files in ParlAI's conversation format that ParlAI itself wrote, as a task."""

import json

import parlai.utils.logging as logging
import pytest

from parlai_q2.errors import InputError
from parlai_q2.io.parquet import write_parquet
from parlai_q2.io.world_logs import COMMANDS_SKIPPED
from tests.files import write_lines
from tests.tasks.evaluating import SAMPLE, evaluate, make_world
from tests.tasks.recording import NAME

FILE = 'parlai_q2.tasks.grounded_file.agents'


def test_a_world_log_gives_the_replies_in_it_the_scores_that_they_had(tmp_path):
    log = str(tmp_path / 'log.jsonl')
    options = {'model': 'fixed_response', 'fixed_response': 'It is a large planet.'}
    before = evaluate(SAMPLE, world_logs=log, num_examples=9, **options)
    after = evaluate(FILE, jsonfile_datapath=log)
    assert after['exs'] == before['exs']
    assert 0 < before[NAME] == after[NAME]
    # The labels are those replies.
    assert after['f1'] == 1 > before['f1']


@pytest.mark.parametrize('candidates', [None, [], ['not that'], ['Hi.', 'Hello.']])
def test_candidates_stay_where_the_label_is_one_of_them(tmp_path, candidates):
    path = tmp_path / 'chat.jsonl'
    # In a log of a chat, whoever typed had none.
    asked = {'id': 'localHuman', 'text': 'Hello?', 'label_candidates': candidates}
    write_lines(path, {'dialog': [[asked, {'id': 'model', 'text': 'Hi.'}]]})
    report = evaluate(FILE, model='random_candidate', jsonfile_datapath=str(path))
    assert report['exs'] == 1
    assert ('hits@1' in report) == ('Hi.' in (candidates or ()))


@pytest.mark.parametrize(
    'message_fields, score', [({}, 1), ({'knowledge': 'Mars.'}, 0)]
)
def test_chat_logs_have_the_knowledge_that_the_agent_judged_by(
    tmp_path, message_fields, score
):
    path = tmp_path / 'chat.jsonl'
    reply = {'id': 'model', 'text': 'Two moons.', 'rerank_knowledge': 'Two moons.'}
    write_lines(path, {'dialog': [[{'text': 'Moons?', **message_fields}, reply]]})
    report = evaluate(FILE, jsonfile_datapath=str(path), measure='precision')
    assert report['knowledge_precision'] == score


def read(path, **options):
    """What the task shows of a file."""
    world = make_world(task=FILE, jsonfile_datapath=str(path), **options)
    return [turn for turn in world.get_task_agent() if not turn.is_padding()]


SECOND, FIRST = [('hi', 'oh'), ('bye', 'ok')], [('__SILENCE__', 'hi'), ('oh', 'bye')]


@pytest.mark.parametrize(
    'label_turns, expected',
    [('secondspeaker', SECOND), ('firstspeaker', FIRST), ('both', FIRST + SECOND)],
)
def test_commands_of_a_chat_are_no_turns(tmp_path, monkeypatch, label_turns, expected):
    warned = []
    monkeypatch.setattr(logging, 'warning', warned.append)
    why = [{'text': '/why'}, {'text': 'Nothing said.', 'rerank_command': 'why'}]
    dialogs = [[{'text': 'hi'}, {'text': 'oh'}], [{'text': 'bye'}, {'text': 'ok'}]]
    dialog = [why, dialogs[0], why, dialogs[1], why]
    path = write_lines(tmp_path / 'log.jsonl', {'dialog': dialog})
    turns = read(path, label_turns=label_turns)
    assert [(turn['text'], *turn['eval_labels']) for turn in turns] == expected
    assert warned == [COMMANDS_SKIPPED.format(3)]


@pytest.mark.parametrize(
    'line, says',
    [
        ('{"dialog": [[', 'is not JSON'),
        ('[1, 2]', 'has no "dialog" list'),
        ('{"dialog": 3}', 'has no "dialog" list'),
        ('{"dialog": [[{"text": "a"}, 7]]}', 'something other than messages'),
        ('{"dialog": [["a", "b"]]}', 'something other than messages'),
        ('\udc80{}', 'is not UTF-8'),
        ('[' * 100_000, 'is not JSON'),
    ],
)
def test_a_bad_line_is_named_and_the_others_are_read(tmp_path, monkeypatch, line, says):
    errors = []
    monkeypatch.setattr(logging, 'error', errors.append)
    good = json.dumps({'dialog': [[{'text': 'hi'}, {'text': 'oh'}]]})
    path = tmp_path / 'log.jsonl'
    text = f'{good}\n{line}\n{good}\n'
    path.write_bytes(text.encode('utf-8', 'surrogateescape'))
    assert [turn['text'] for turn in read(path)] == ['hi', 'hi']
    (error,) = set(errors)
    assert 'log.jsonl, line 2' in error
    assert says in error


RECORD = {'knowledge': 'Mars has two moons.', 'history': ['Hi.', 'Moons?'], 'id': 'm'}


def test_a_record_is_a_conversation_of_one_turn(tmp_path):
    path = write_lines(tmp_path / 'mine.jsonl', {**RECORD, 'response': 'Two.'})
    (turn,) = read(path)
    assert turn['text'] == 'Hi.\nMoons?'
    assert turn['eval_labels'] == ['Two.']
    assert turn['knowledge'] == RECORD['knowledge']
    assert turn['turn_id'] == 'm'
    assert turn['episode_done']


def test_tables_are_read_as_by_score(tmp_path):
    record = {'knowledge': ['Mars.', 'It is red.'], 'turns': ['Hi.', 'Moons?']}
    cells = [json.dumps(value).replace('"', '""') for value in record.values()]
    (tmp_path / 'mine.csv').write_text(
        f'{",".join(record)},response\n"{cells[0]}","{cells[1]}",Two.\n'
    )
    lines = write_lines(tmp_path / 'mine.jsonl', {**record, 'response': 'Two.'})
    write_parquet(lines, tmp_path / 'mine.parquet')
    for name in ('mine.csv', 'mine.parquet'):
        (turn,) = read(tmp_path / name, fields='history=turns')
        assert turn['text'] == 'Hi.\nMoons?'
        assert turn['knowledge'] == record['knowledge']


@pytest.mark.parametrize('name', ['mine.jsonl', 'mine.csv'])
def test_other_names_of_fields_are_told_and_read(tmp_path, caplog, name):
    path = tmp_path / name
    record = {'knowledge': 'Mars.', 'question': 'Moons?', 'answer': 'Two.'}
    cells = f'{",".join(record)}\n{",".join(record.values())}\n'
    path.write_text(cells if name.endswith('csv') else json.dumps(record))
    with pytest.raises(InputError, match='1 lines were left out'):
        read(path)
    assert '--fields history=question,response=answer' in caplog.text
    (turn,) = read(path, fields='history=question,response=answer')
    assert (turn['text'], *turn['eval_labels']) == ('Moons?', 'Two.')
