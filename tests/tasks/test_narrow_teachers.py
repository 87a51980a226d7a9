"""Teachers that show a part of their task: words make it smaller, and never larger."""

import pytest

from parlai_q2.errors import ConfigError
from tests.tasks.evaluating import messages

WIDER = {
    'grounded_sample:ConsistentTeacher:inconsistent': "class 'inconsistent'",
    'q2_wow:DodecaTeacher:memnet': "system 'memnet'",
    'q2_wow:DodecaInconsistentTeacher:Consistent': "class 'consistent'",
    'begin:WowTeacher:cmu': "corpus 'cmu'",
    'begin:WowTeacher:TC': "corpus 'topicalchat'",
    'dialogue_nli:GoldTeacher:train': "set 'train'",
    'rome:ExpertTeacher:dpr': "part 'dpr'",
    'rome:CrowdTeacher:expert': "part 'expert'",
    'conv_fever:NegationTeacher:consistent': "kind 'consistent'",
}
NARROWER = {
    'grounded_sample:ConsistentTeacher:berlin_wall': 1,
    'q2_wow:DodecaTeacher:DODECA:Inconsistent': 1,
    'begin:WowTeacher:wow:consistent': 2,
    'rome:GtTeacher:generic': 1,
    'rome:CrowdTeacher:gt:knn': 10,
    'rome:CrowdTeacher:Crowd': 12,
    'dialogue_nli:GoldTeacher:consistent': 1,
}


@pytest.fixture(autouse=True)
def placed(datapath, sets, request):
    """The files of every task."""
    if 'conv_fever' in request.node.name:
        request.getfixturevalue('conv_fever')


def full(task):
    name, _, rest = task.partition(':')
    return f'parlai_q2.tasks.{name}.agents:{rest}'


@pytest.mark.parametrize('task', WIDER)
def test_a_second_word_of_what_the_teacher_fixes_is_refused(task):
    group, word = WIDER[task].rsplit(' ', 1)
    with pytest.raises(ConfigError, match=f'{word} is another {group}') as caught:
        messages(full(task))
    assert task.split(':')[1] in str(caught.value)


@pytest.mark.parametrize('task', NARROWER)
def test_any_other_word_chooses_among_what_it_shows(task):
    assert len(messages(full(task))) == NARROWER[task]
