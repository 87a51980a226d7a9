"""
ParlAI's commands that look at data, on every task: they look up how many turns were
shown, which ParlAI counts only where there is a label.
"""

import pytest
from parlai.scripts.data_stats import DataStats
from parlai.scripts.verify_data import VerifyData
from parlai.utils import logging

from tests.tasks.evaluating import SAMPLE, messages
from tests.tasks.recording import NAME

# Task, and the fixture that places its files.
TEACHERS = {
    'grounded_sample': None,
    'q2_wow': 'datapath',
    'begin': 'sets',
    'rome': 'sets',
    'dialogue_nli': 'sets',
    'topical_chat_usr': 'sets',
    'conv_fever': 'conv_fever',
}


@pytest.fixture(params=TEACHERS)
def task(request):
    if TEACHERS[request.param]:
        request.getfixturevalue(TEACHERS[request.param])
    name = request.param if ':' in request.param else f'{request.param}.agents'
    return f'parlai_q2.tasks.{name}'


def test_data_are_verified(task):
    counts = VerifyData.main(task=task, datatype='train:ordered')
    shown = messages(task, 'train:evalmode')
    assert counts['exs'] == len(shown) > 0
    assert counts['missing_labels'] == sum('eval_labels' not in m for m in shown)
    assert counts['missing_text'] == counts['did_not_return_message'] == 0


def test_statistics_score_nothing_and_verifying_says_how_to_score_nothing(
    made, monkeypatch
):
    said = []
    monkeypatch.setattr(logging, 'info', said.append)
    task = f'{SAMPLE}:AnnotatedTeacher:berlin_wall'
    DataStats.main(task=task, datatype='valid', scorer=NAME)
    assert not made[0].calls and not any('scored' in line for line in said)
    VerifyData.main(task=task, datatype='valid', scorer=NAME)
    told = [line for line in said if '--q2-metrics false' in line]
    assert told == [
        'Scoring each response with recording. To skip this, give --q2-metrics false.'
    ]


def test_training_on_a_view_without_labels_names_those_that_have(sets, monkeypatch):
    said = []
    monkeypatch.setattr('parlai_q2.parlai.annotated_task.warn_once', said.append)
    task = 'parlai_q2.tasks.begin.agents'
    labelled = f'{task}:ClassificationTeacher', 'parlai_q2.tasks.dialogue_nli.agents'
    for name in labelled:
        VerifyData.main(task=name, datatype='train:ordered')
    VerifyData.main(task=task, datatype='valid')
    assert not said
    VerifyData.main(task=task, datatype='train:ordered')
    (line,) = said
    assert 'AnnotatedTeacher and ClassificationTeacher of the same task have' in line
