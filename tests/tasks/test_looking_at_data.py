"""
ParlAI's commands that look at data: they look up how many turns were shown, which
ParlAI counts only where there is a label.
"""

import pytest
from parlai.scripts.verify_data import VerifyData

from tests.tasks.evaluating import messages


@pytest.mark.parametrize('task', ['q2_wow', 'begin'])
def test_data_are_verified(sets, task):
    task = f'parlai_q2.tasks.{task}.agents'
    counts = VerifyData.main(task=task, datatype='train:ordered')
    turn_messages = messages(task, 'train:evalmode')
    assert counts['exs'] == len(turn_messages) > 0
    assert counts['missing_labels'] == sum(
        'eval_labels' not in m for m in turn_messages
    )
    assert counts['missing_text'] == counts['did_not_return_message'] == 0


def test_training_on_a_view_without_labels_names_those_that_have(sets, monkeypatch):
    printed = []
    monkeypatch.setattr('parlai_q2.parlai.annotated_task.warn_once', printed.append)
    task = 'parlai_q2.tasks.begin.agents'
    labelled = f'{task}:ClassificationTeacher', 'parlai_q2.tasks.dialogue_nli.agents'
    for name in labelled:
        VerifyData.main(task=name, datatype='train:ordered')
    VerifyData.main(task=task, datatype='valid')
    assert not [line for line in printed if 'label' in line]
    VerifyData.main(task=task, datatype='train:ordered')
    (line,) = [line for line in printed if 'label' in line]
    assert 'AnnotatedTeacher and ClassificationTeacher of the same task have' in line
