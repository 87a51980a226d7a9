"""Teachers that show a part of their task: words make it smaller, and never larger."""

import pytest

from parlai_q2.errors import ConfigError
from tests.tasks.evaluating import messages

TASKS = 'parlai_q2.tasks.'


@pytest.mark.parametrize(
    'task, problem',
    [
        ('begin.agents:WowTeacher:TC', "'topicalchat' is another corpus"),
        ('rome.agents:ExpertTeacher:dpr', "'dpr' is another part"),
        (
            'grounded_sample.agents:ConsistentTeacher:inconsistent',
            "'inconsistent' is another class",
        ),
    ],
)
def test_a_second_word_of_what_the_teacher_fixes_is_refused(sets, task, problem):
    with pytest.raises(ConfigError, match=problem) as caught:
        messages(TASKS + task)
    assert task.split(':')[1] in str(caught.value)
