"""
USR's ratings of Topical-Chat responses: the file, its systems, and the views of it.
"""

import copy
import json

import pytest

from parlai_q2.errors import RecordError
from parlai_q2.tasks.topical_chat_usr.reader import read_file
from tests.tasks.annotated_sets import USR
from tests.tasks.evaluating import messages

TASK = 'parlai_q2.tasks.topical_chat_usr.agents'
ANNOTATED = f'{TASK}:AnnotatedTeacher'


def test_the_message_has_the_mean_of_three_ratings(sets):
    turn_messages = messages(ANNOTATED)
    assert [m['human_score'] for m in turn_messages] == pytest.approx(
        [1, 0, 2 / 3, 1 / 3, 0]
    )
    third = turn_messages[2]
    assert third['eval_labels'] == ['owls hunt hens .']
    assert third['system'] == 'nucleus_0.3'
    assert third['annotations']['uses_knowledge'] == [0, 1, 1]
    assert third['human_ratings']['overall'] == pytest.approx(11 / 3)
    assert third['human_ratings']['uses_knowledge'] == third['human_score']


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
