"""ParlAI's own test of teachers, with its records in the folder beside this file."""

import pytest
from parlai.utils.testing import AutoTeacherTest

ANNOTATED = 'AnnotatedTeacher'
# The fixture that places a task's files, and its teacher that is recorded. Of the other
# views of annotated sets, test_views checks what they make of this one.
TEACHERS = {
    **dict.fromkeys(('grounded_sample', 'twins'), (None, ANNOTATED)),
    **dict.fromkeys(
        ('begin', 'rome', 'dialogue_nli', 'topical_chat_usr', 'q2_wow'),
        ('sets', ANNOTATED),
    ),
    'conv_fever': ('conv_fever', ''),
}
# Tasks that show the same turns for several datatypes, and whose record these share.
ONE_FOLD = dict.fromkeys(('train', 'valid'), 'test')
SAME_TURNS = {
    **dict.fromkeys(('q2_wow', 'rome', 'topical_chat_usr'), ONE_FOLD),
    'grounded_sample': {'valid': 'test'},
    'begin': {'train': 'valid'},
    'twins': {'train': 'valid'},
}


class Records:
    """The records of a run, of which one may serve several datatypes."""

    def __init__(self, data_regression):
        self.data_regression = data_regression

    def check(self, output, basename):
        teacher, _, datatype = basename.rpartition('_')
        acts = [act for (act,) in output['acts']]
        same = SAME_TURNS.get(basename.split('.')[2], {}).get(datatype, datatype)
        for act in acts:
            if datatype == 'train' != same:
                assert 'eval_labels' not in act
                if 'labels' in act:
                    act['eval_labels'] = act.pop('labels')
            if 'conv_fever' not in teacher:
                # Long, and checked by rule in test_views.
                act.pop('label_candidates', None)
        first, *others = acts
        shared = {
            name: value
            for name, value in first.items()
            if all(name in act and act[name] == value for act in others)
        }
        output['acts'] = [
            {name: act[name] for name in act if name not in shared} for act in acts
        ]
        recorded = {**output, 'in_all_acts': shared}
        self.data_regression.check(recorded, basename=f'{teacher}_{same}')


class TestTeachers(AutoTeacherTest):
    def _regression(self, data_regression, datatype):
        super()._regression(Records(data_regression), datatype)

    @pytest.fixture(autouse=True, params=TEACHERS)
    def placed(self, request):
        name = request.param
        files, teacher = TEACHERS[name]
        if files:
            request.getfixturevalue(files)
        self.task = f'parlai_q2.tasks.{name}.agents:{teacher}'.rstrip(':')
