"""
USR's ratings of Topical-Chat responses: the file, its systems, and the views of it.
"""

import copy
import json

import pytest
from parlai.scripts.eval_model import EvalModel

from parlai_q2.__main__ import run
from parlai_q2.errors import RecordError, TaskDataError, UnknownNameError
from parlai_q2.tasks.topical_chat_usr.reader import read_file, read_part
from tests.tasks.annotated_sets import OWLS, USR
from tests.tasks.evaluating import logged, messages

TASK = 'parlai_q2.tasks.topical_chat_usr.agents'
ANNOTATED = f'{TASK}:AnnotatedTeacher'


@pytest.mark.parametrize(
    'part, rows',
    [('', 5), (':original', 2), (':nucleus_0.3', 1), (':argmax:new_human', 2)],
)
def test_words_choose_systems(sets, part, rows):
    assert len(messages(ANNOTATED + part)) == rows


def test_an_unknown_word_is_answered_with_the_nearest_one(sets):
    with pytest.raises(UnknownNameError, match="system of .* Did you mean 'nucleus_0."):
        messages(f'{ANNOTATED}:nucleus')


def test_the_message_has_the_mean_of_three_ratings(sets):
    shown = messages(ANNOTATED)
    assert [m['human_score'] for m in shown] == pytest.approx([1, 0, 2 / 3, 1 / 3, 0])
    third = shown[2]
    assert third['eval_labels'] == ['owls hunt hens .']
    assert third['system'] == 'nucleus_0.3'
    assert third['annotations']['uses_knowledge'] == [0, 1, 1]
    assert third['human_ratings']['overall'] == pytest.approx(11 / 3)
    assert third['human_ratings']['uses_knowledge'] == third['human_score']


def test_the_label_is_what_most_annotators_say(sets):
    shown = messages(f'{TASK}:ClassificationTeacher')
    assert [m['eval_labels'] for m in shown] == [
        ['uses_knowledge'],
        ['uses_none'],
        ['uses_knowledge'],
        ['uses_none'],
        ['uses_none'],
    ]
    assert shown[0]['text'] == f'{OWLS}\nthey hunt at night .'


def test_the_conversation_is_the_message(sets):
    first = messages(ANNOTATED)[0]
    assert first['history'] == ['hi , do you like owls ?', 'yes , i do']
    assert first['text'] == 'hi , do you like owls ?\nyes , i do'
    assert first['checked_sentence'] == first['knowledge'] == OWLS


def test_the_mark_for_no_fact_is_no_knowledge(sets):
    assert [m['checked_sentence'] for m in messages(TASK)] == [OWLS, '']


def test_the_dialogue_view_asks_for_the_persons_reply(sets):
    shown = messages(TASK)
    assert [m['eval_labels'] for m in shown] == [['they hunt at night .'], ['thanks !']]
    for message in shown:
        assert not {'response', 'q2_label', 'human_score', 'system'} & set(message)


def test_scores_and_ratings_stand_in_the_same_log(sets, tmp_path):
    path = tmp_path / 'log.jsonl'
    EvalModel.main(
        task=ANNOTATED,
        model='repeat_label',
        scorer='precision',
        batchsize=4,
        world_logs=str(path),
    )
    pairs = {
        model['text']: (teacher['human_score'], model['metrics'])
        for teacher, model in logged(path)
    }
    rating, metrics = pairs['they hunt at night .']
    # hunt at night, but no "they" in the knowledge.
    assert rating == 1 and metrics['knowledge_precision'] == pytest.approx(3 / 4)


def test_a_file_of_another_size_is_read_with_a_warning(sets, caplog):
    assert len(read_part(str(sets))) == 5
    assert '5 responses; the paper counts 360' in caplog.text


def test_it_is_the_same_rows_in_every_datatype(sets):
    replies = [m['response'] for m in messages(ANNOTATED, 'train:evalmode')]
    assert replies == [m['response'] for m in messages(ANNOTATED, 'test')]


def test_a_failed_download_says_where_to_place_the_file(sets, monkeypatch):
    def no_network(url, path):
        raise OSError('Connection broken.')

    monkeypatch.setattr('parlai_q2.io.published.download', no_network)
    folder = sets / 'topical_chat_usr'
    (folder / 'tc_usr_data.json').unlink()
    with pytest.raises(TaskDataError, match='tc_usr_data.json in ~/') as caught:
        messages(TASK)
    assert 'and --datapath ~/parlai_data.' in str(caught.value)


def changed(quality, value):
    contexts = copy.deepcopy(USR)
    contexts[1]['responses'][0][quality] = value
    return contexts


@pytest.mark.parametrize(
    'contexts, problem, number',
    [
        ({'a': 1}, 'must hold a list', 1),
        ([*USR, {'context': 'x'}], r"\(context 3\) .* KeyError\('fact'\)", 3),
        ([USR[0], 'x'], r'\(context 2\) is not a context', 2),
        (changed('model', 'GPT'), "model 'GPT' is not one of", 2),
        (changed('Uses Knowledge', [0, 2, 1]), 'ratings are 0 or 1', 2),
        (changed('Overall', []), 'not a list of ratings', 2),
        (changed('Overall', ['5']), 'not a list of ratings', 2),
    ],
)
def test_a_broken_context_is_named(tmp_path, contexts, problem, number):
    path = tmp_path / 'ratings.json'
    path.write_text(json.dumps(contexts))
    with pytest.raises(RecordError, match=problem) as caught:
        read_file(path)
    assert caught.value.line == number


def test_what_is_no_json_is_named(tmp_path):
    path = tmp_path / 'ratings.json'
    path.write_text('<html>404</html>')
    with pytest.raises(RecordError, match='cannot be read as JSON'):
        read_file(path)


def test_short_names_lead_to_it(sets, capsys):
    task = 'q2:topical_chat_usr:annotated:new_human'
    run(['display_data', '-t', task, '-n', '1', '-dt', 'valid'])
    assert 'nice kite !\n   it needs wind .' in capsys.readouterr().out
