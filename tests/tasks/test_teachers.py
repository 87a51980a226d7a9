"""
Every task's teachers show what they showed before: ParlAI's own test of teachers, with
its records in the folder beside this file.
"""

import pytest
from parlai.utils.testing import AutoTeacherTest

# The fixture that places a task's files, and its teachers; DEFAULT is the task alone.
DEFAULT = ''
TEACHERS = {
    'grounded_sample': (
        None,
        [DEFAULT, 'AnnotatedTeacher', 'InconsistentTeacher', 'ClassificationTeacher'],
    ),
    'q2_wow': (
        'datapath',
        [
            DEFAULT,
            'AnnotatedTeacher',
            'ClassificationTeacher',
            'CrossAnnotationTeacher',
        ],
    ),
    'begin': (
        'sets',
        [DEFAULT, 'AnnotatedTeacher', 'ClassificationTeacher', 'V1Teacher'],
    ),
    'rome': ('sets', [DEFAULT, 'AnnotatedTeacher', 'ClassificationTeacher']),
    'dialogue_nli': ('sets', [DEFAULT, 'AnnotatedTeacher', 'ClassificationTeacher']),
    'topical_chat_usr': (
        'sets',
        [DEFAULT, 'AnnotatedTeacher', 'ClassificationTeacher'],
    ),
    'conv_fever': (
        'conv_fever',
        [DEFAULT, 'NegationTeacher', 'EntitySwapTeacher'],
    ),
}


class TestTeachers(AutoTeacherTest):
    @pytest.fixture(
        autouse=True,
        params=[
            pytest.param((name, files, teacher), id=f'{name}:{teacher}'.rstrip(':'))
            for name, (files, teachers) in TEACHERS.items()
            for teacher in teachers
        ],
    )
    def placed(self, request):
        name, files, teacher = request.param
        if files:
            request.getfixturevalue(files)
        self.task = f'parlai_q2.tasks.{name}.agents:{teacher}'.rstrip(':')
